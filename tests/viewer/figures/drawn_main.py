# SPDX-License-Identifier: BSD-3-Clause
# Runs all cases: the last part of drawn.py.


# what cannot be laid out is drawn over itself
warnings.simplefilter("error", UserWarning)
failed = []
for name, case in list(globals().items()):
    if name in script or not hasattr(case, "__code__") or case.__code__.co_argcount or case.__code__.co_flags & 0x0C:
        continue
    try:
        case()
    except Exception:
        traceback.print_exc()
        failed.append(name)
    plt.close("all")
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
