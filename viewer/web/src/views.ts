// SPDX-License-Identifier: BSD-3-Clause
// The views that there are, and which of them a file can fill.
import { shows, type App, type View } from './app';
import { attributionView } from './views/attribution';
import { causesView } from './views/causes';
import { compareView } from './views/compare';
import { curvesView } from './views/curves';
import { histogramView } from './views/histogram';
import { intrusionView } from './views/intrusion';
import { phasesView } from './views/phases';
import { scoresView } from './views/scores';
import { sweepView } from './views/sweep';
import { tablesView } from './views/tables';
import { topologyView } from './views/topology';

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
    if (shows(app.source).length > 0) kinds.push({ id: 'histogram', title: 'Histogram', make: histogramView });
    if (info.kind === 'run' && info.phases.names.length > 0 && info.series.length > 0)
        kinds.push({ id: 'phases', title: 'Phases', make: phasesView });
    if (info.attribution) kinds.push({ id: 'attribution', title: 'Code and data', make: attributionView });
    if (info.causes.length > 0) kinds.push({ id: 'causes', title: 'Causes', make: causesView });
    if (info.links.length > 0) kinds.push({ id: 'topology', title: 'Topology', make: topologyView });
    kinds.push({ id: 'tables', title: 'Tables', make: tablesView });
    if (app.others.length > 0 && !info.probe) kinds.push({ id: 'compare', title: 'Compare', make: compareView });
    return kinds;
}
