// SPDX-License-Identifier: BSD-3-Clause
// The views that there are, and which of them a file can fill.
import { shows, type App, type View } from './app';
import { compareView } from './views/compare';
import { curvesView } from './views/curves';
import { intrusionView } from './views/intrusion';
import { scoresView } from './views/scores';
import { sweepView } from './views/sweep';
import { tablesView } from './views/tables';
import { topologyView } from './views/topology';
import { workbenchView } from './views/workbench';

export interface ViewKind {
    id: string;
    title: string;
    make: (app: App) => View;
}

/** The first is shown where nothing else is asked for. */
export function viewsOf(app: App): ViewKind[] {
    const { info } = app.source;
    const kinds: ViewKind[] = [];
    if (info.sweep) kinds.push({ id: 'sweep', title: 'Sweep', make: sweepView });
    if (info.intrusion && info.intrusion.rows.length > 0)
        kinds.push({ id: 'intrusion', title: 'Intrusion', make: intrusionView });
    if (info.probe && info.probe.curves.length > 0) kinds.push({ id: 'curves', title: 'Curves', make: curvesView });
    if (info.campaign) kinds.push({ id: 'scores', title: 'Scores', make: scoresView });
    if (shows(app.source).length > 0) kinds.push({ id: 'workbench', title: 'Workbench', make: workbenchView });
    if (info.links.length > 0) kinds.push({ id: 'topology', title: 'Topology', make: topologyView });
    kinds.push({ id: 'tables', title: 'Tables', make: tablesView });
    if (app.others.length > 0 && !info.probe) kinds.push({ id: 'compare', title: 'Compare', make: compareView });
    return kinds;
}
