// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 library prints its whole stack of errors where a file is damaged; people get one sentence instead (h5.ts).
// Imported first: the library keeps the console that it finds.
const isStack = (words: unknown[]): boolean => /^(HDF5-DIAG|\s*#\d{3}: |\s+(major|minor): |, filename = )/.test(String(words[0]));

for (const kind of ['error', 'warn'] as const) {
    const plain = console[kind].bind(console);
    console[kind] = (...words: unknown[]) => { if (!isStack(words)) plain(...words); };
}
export {};
