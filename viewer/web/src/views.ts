// SPDX-License-Identifier: BSD-3-Clause
// The views that there are, and which of them a file can fill.
import { shows, type App, type View } from './app';
import { compareView } from './views/compare';
import { curvesView } from './views/curves';
import { intrusionView } from './views/intrusion';
import { pivotView } from './views/pivot';
import { scoresView } from './views/scores';
import { canSubtract, sweepView } from './views/sweep';
import { tablesView } from './views/tables';
import { topologyView } from './views/topology';
import { trackersView } from './views/fronts';
import { workbenchView } from './views/workbench';

export interface ViewKind {
    id: string;
    title: string;
    /** Whether files have what it shows. */
    has: (app: Pick<App, 'source' | 'others'>) => boolean;
    make: (app: App) => View;
    /** Whether it shows by itself by how much two files differ. */
    differs?: (app: App) => boolean;
}

/** The first that there is is shown where nothing else is asked for. */
const kinds: ViewKind[] = [
    { id: 'sweep', title: 'Sweep', has: ({ source: { info } }) => !!info.sweep?.rows.count, make: sweepView, differs: ({ source, others: [other] }) => canSubtract(source, other) },
    { id: 'pivot', title: 'By parameters', has: ({ source: { info } }) => !!(info.campaign?.numbers.length || info.sweep?.rows.count), make: pivotView, differs: ({ others: [other] }) => !!(other.info.campaign?.numbers.length || other.info.sweep?.rows.count) },
    { id: 'intrusion', title: 'Intrusion', has: ({ source: { info } }) => !!info.intrusion?.rows.count, make: intrusionView, differs: () => true },
    { id: 'trackers', title: 'Trackers', has: ({ source, others }) => [source, ...others].some(({ info }) => info.trackers?.rows.count), make: trackersView },
    { id: 'curves', title: 'Curves', has: ({ source: { info } }) => !!info.probe?.curves.length, make: curvesView },
    { id: 'scores', title: 'Scores', has: ({ source: { info } }) => info.validation !== null, make: scoresView },
    { id: 'workbench', title: 'Workbench', has: ({ source }) => shows(source).length > 0, make: workbenchView, differs: ({ others: [other] }) => shows(other).length > 0 },
    { id: 'topology', title: 'Topology', has: ({ source: { info } }) => info.links.length > 0, make: topologyView },
    { id: 'tables', title: 'Tables', has: () => true, make: tablesView },
    { id: 'compare', title: 'Compare', has: ({ source, others }) => others.length > 0 && !source.info.probe, make: compareView },
];

export const viewsOf = (app: App): ViewKind[] => kinds.filter((kind) => kind.has(app));
