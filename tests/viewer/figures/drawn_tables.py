# SPDX-License-Identifier: BSD-3-Clause
# Sweeps, campaigns, curves and reuse beside what the file has: after drawn.py.


def sweeps_of_workloads_and_links_have_a_panel_each_and_one_scale():
    # by hand, per cent: of lu 0, 10; of radix 20, 40 in each link: cells are coloured from 0 to 40
    errors = np.array([0, 0.1, 0, 0.1, 0.2, 0.4, 0.2, 0.4])
    cells = fronts_file("a", ["lu n=8", "radix keys=2"], ["core-L1", "L1-L2"], [0.0, 0.1], counters=np.array([16, 32] * 4, np.uint32), error=errors)
    for width in (1, 2):
        figure = sweep(cells, wanted(metric="error", columns=width))
        figure.canvas.draw()
        left, right = figure.axes[:8:2], figure.axes[1:8:2]
        titles = ["lu n=8, core-L1", "lu n=8, L1-L2", "radix keys=2, core-L1", "radix keys=2, L1-L2"]
        assert [each.get_title(loc="left") for each in left] == titles
        assert any("error / %" in each and "radix keys=2" in each for each in texts_of(figure))
        assert len({each.get_xlim() for each in right}) == len({each.get_ylim() for each in right}) == 1 and right[0].get_ylim()[1] >= 40
        begin, share = DRAWING["scale"]["matrix"]
        for axes, (low, high) in zip(left, [(0, 0.25), (0, 0.25), (0.5, 1), (0.5, 1)]):
            image = np.asarray(axes.images[0].get_array())
            assert (image[0, 0, :3] == ramp(begin + share * low)).all() and (image[1, 1, :3] == ramp(begin + share * high)).all(), axes.get_title(loc="left")
            assert image[0, 1, 3] == 0, "one of these counters and granularity there is not"
        lines = [(float(each.get_xdata()[0]), float(each.get_ydata()[0])) for axes in right for each in axes.lines]
        assert np.allclose(lines, list(zip([16, 32] * 4, 100 * errors)))
        boxes = [each.get_tightbbox() for each in left + right]
        assert not any(box.overlaps(other) for i, box in enumerate(boxes) for other in boxes[:i]), width
        plt.close(figure)


def workloads_and_links_are_chosen():
    cells = fronts_file("a", ["lu n=8", "lu n=16", "radix"], ["core-L1", "L1-L2"], [0.0, 0.1])
    both = lambda *options: [sorted(each.get_title(loc="left") for each in draw(cells, wanted(metric="error", **dict(options))).axes if each.get_title(loc="left"))
                             for draw in (sweep, front)]
    for workload in ("lu", "lu,n=8", "lu n=8"):
        names = [f"{each}, L1-L2" for each in ("lu n=16", "lu n=8") if workload == "lu" or each == "lu n=8"]
        drawn = both(("workload", [workload, "radix"]), ("link", "L1-L2"))
        assert drawn == [[*names, "radix, L1-L2"]] * 2, drawn
    one = sweep(cells, wanted(metric="error", workload=["radix"], link="core-L1"))
    assert "radix, core-L1, fifo" in texts_of(one) and [each.get_title(loc="left") for each in one.axes][0] == "error / %", texts_of(one)
    for draw in (sweep, front):
        for given, why in (({"workload": ["fft"]}, "--workload: there is no workload 'fft'; there are: lu n=8, lu n=16, radix"),
                           ({"link": "L1"}, "--link: there is no link 'L1'; there are: core-L1, L1-L2")):
            assert why in refusal(draw, cells, wanted(metric="error", **given)), (draw, given)
    apart = fronts_file("b", ["lu"], ["core-L1"], [0.0, 0.1], workload=["lu", "radix"], link=["core-L1", "L1-L2"])
    assert "no cells are of these workloads and links together; there are: lu, core-L1; radix, L1-L2" in refusal(sweep, apart, wanted(workload=["lu"], link="L1-L2"))


def sweeps_of_settings_have_a_panel_each_up_to_twenty():
    for count in (2, 21):
        cells = settings_file("s", [f"ways={i}" for i in range(count)])
        if count == 2:
            titles = [each.get_title(loc="left") for each in sweep(cells, wanted(metric="error")).axes[::2]]
            assert [each.rsplit(", ", 1)[-1] for each in titles] == ["ways=0", "ways=1"], titles
        else:
            told = refusal(sweep, cells, wanted(metric="error"))
            assert "21 panels of workloads, links and settings are too many" in told and "(--settings: ways=0, ways=1, ways=2 or 18 others)" in told, told
            assert sweep(cells, wanted(metric="error", settings="ways=7")).axes[0].get_title(loc="left") == "error / %", "one panel"
            assert "--settings: there is no 'ways=99'; there are: ways=0, " in refusal(sweep, cells, wanted(metric="error", settings="ways=99"))


def campaign_file():
    """Of lu n = 8 with L2 of 256 KiB and 1 MiB, n = 16 with 256 KiB, in several seeds; of radix, without n; the last point failed."""
    points = [("lu", 1, 8, 1048576, 100, 10), ("lu", 2, 8, 1048576, 100, 40), ("lu", 3, 8, 1048576, 100, 20), ("lu", 4, 8, 1048576, 100, 90),
              ("lu", 1, 16, 262144, 10, 0), ("lu", 2, 16, 262144, 10, 0), ("lu", 3, 8, 262144, 0, 0), ("radix", 1, np.nan, 262144, 50, 25),
              ("lu", 1, 16, 1048576, np.nan, np.nan)]
    names = ("workload", "seed", "n", "L2.size", "accesses_L1", "misses_L1")
    columns = {name: [each[i] for each in points] if i == 0 else np.array([each[i] for each in points], float) for i, name in enumerate(names)}
    return result_of("campaign", {"campaign": {"point": np.arange(9), **columns}, "input": {"yaml": ["-"]}},
                     [("campaign", "parameters", list(names[:4])), ("campaign", "measures", list(names[4:])), ("input", "name", "by hand")])


def medians_of_campaigns_are_those_by_hand():
    drawn = campaign(campaign_file(), wanted(x="L2.size", y="n", value="misses_L1"))
    axes, told = drawn.axes[0], texts_of(drawn)
    image = np.asarray(axes.images[0].get_array())
    # by hand, n = 8: 0, and of 10, 20, 40, 90 the mean of the middle two; n = 16: 0, and not known
    assert {(round(each.get_position()[0]), round(each.get_position()[1])): each.get_text() for each in axes.texts} == {(0, 0): "0", (1, 0): "30", (0, 1): "0"}
    assert image[1, 1, 3] == 0 and (image[0, 0] == image[1, 0]).all()
    begin, share = DRAWING["scale"]["matrix"]
    for place, cell in ((begin, image[0, 0]), (begin + share, image[0, 1])):
        assert (ramp(place) == cell[:3]).all(), (place, cell)
    assert [each.get_text() for each in axes.get_xticklabels()] == ["256 KiB", "1 MiB"]
    assert any("misses L1, medians over seed, of up to 4 points" in each for each in told), told
    rates = campaign(campaign_file(), wanted(x="n", y="miss_rate_L1", lines="L2.size")).axes[0]
    assert [each.get_label() for each in rates.lines] == ["L2.size 256 KiB", "L2.size 1 MiB"]
    assert np.array_equal(rates.lines[0].get_data(), [[16], [0]]) and np.array_equal(rates.lines[1].get_data(), [[8], [30]]), "in percent; 0/0 is not known"
    some = campaign(campaign_file(), wanted(x="seed", y="misses_L1", facet="workload", where="seed=1,seed=3,L2.size=1 MiB")).axes
    assert len(some) == 1 and np.array_equal(some[0].lines[0].get_data(), [[1, 3], [10, 20]])
    both = campaign(campaign_file(), wanted(x="seed", y="misses_L1", facet="workload")).axes
    assert [each.get_title(loc="left") for each in both] == ["workload lu", "workload radix"]
    assert np.array_equal(both[1].lines[0].get_data(), [[1], [25]]) and both[0].get_ylim() == both[1].get_ylim()


def campaigns_without_what_is_asked_for_are_refused():
    for given, why in (({"x": "ways"}, "--x: there is no parameter 'ways'; there are: workload, seed, n, L2.size"),
                       ({"value": "error"}, "--value: there is no measure 'error'; there are: accesses_L1, misses_L1, miss_rate_L1"),
                       ({"where": "n=9"}, "--where n=9: no point has it; the values of n are: 8, 16"),
                       ({"x": "n", "y": "n"}, "name one parameter twice"), ({"lines": "n"}, "is for figures whose --y is a measure"),
                       ({"where": "workload=radix"}, "no point has miss_rate_L1 and n, L2.size where workload=radix")):
        try:
            campaign(campaign_file(), wanted(**given))
        except Refused as error:
            assert why in str(error) or why.replace("n, L2.size", "L2.size, n") in str(error), error
        else:
            raise AssertionError(given)


def symmetric_logarithmic_colours_are_those_of_the_page():
    # by hand: unit 1; log1p(9) / log1p(999) = log 10 / log 1000
    norm = ValueScale([0.0, 1, 9, 999], "auto", tight=True).norm()
    assert np.allclose(np.asarray(norm([0.0, 9, 999])), [0, 1 / 3, 1])
    near, far = (ValueScale([1.0, most], "auto", tight=True).norm() for most in (29, 31))
    assert isinstance(near, Normalize) and isinstance(far, LogNorm)


def matrices_with_values_below_0_diverge_from_it():
    colours, _ = shades(np.array([-2.0, 0, 4]), "auto", 1)
    # halfway between the second and third colour of the ramp, its middle, its last
    assert colours(np.array([[-2.0, 0, 4, np.nan]]))[0].tolist()[:3] == [[116, 174, 218, 255], [243, 243, 243, 255], [0x8a, 0x3a, 0, 255]]
    plain, _ = shades(np.array([0.0, 4]), "auto", 1)
    assert plain(np.array([[0.0]]))[0, 0, 0] > 245  # little is light


def numbers_of_axes_do_not_lie_on_each_other():
    scale = ValueScale([0.0, 1, 2e9], "auto")
    assert scale.title("cycles") == "cycles,\nsymmetric logarithmic" and ValueScale([1.0, 2], "auto").title("cycles") == "cycles"
    places = sorted(float(scale.norm()(tick)) for tick in scale.named())
    assert 0 in scale.named() and max(scale.ticks) in scale.named() and min(np.diff(places)) > 0.06
    assert [number(each) for each in (-1234.0, 0, -0.5)] == ["−1.23k", "0", "−0.5"]


def labels_do_not_stand_over_each_other():
    for seed in range(5):
        for width in (1, 2):
            cells = many_cells(seed, 60)
            remain = "".join("3" if i in on_front(*map(np.array, cells[3:])) else "1" for i in range(60))
            figure = front(sweep_file(*cells), wanted(metric="swapouts", columns=width, standing=[f"{remain}:error:5"]))
            figure.canvas.draw()
            boxes = [(each.get_text(), each.get_window_extent()) for each in figure.axes[0].texts if each.get_text()]
            assert boxes
            for i, (text, box) in enumerate(boxes):
                for other, there in boxes[:i]:
                    assert not box.overlaps(there), (seed, width, text, other)
            plt.close(figure)
    # a matrix of 40 columns, and numbers of counters that are close
    counters = list(range(16, 56))
    result = sweep_file(["fifo"] * 80, ["1"] * 40 + ["2"] * 40, counters * 2, [0.1] * 80, [123456] * 80)
    for width in (1, 2):
        figure = sweep(result, wanted(columns=width))
        figure.canvas.draw()
        for axes in figure.axes[:2]:
            for texts in (axes.texts, axes.get_xticklabels()):
                boxes = [each.get_window_extent() for each in texts if each.get_text()]
                assert not any(box.overlaps(there) for i, box in enumerate(boxes) for there in boxes[:i]), width
        plt.close(figure)


def legends_stay_within_the_figure():
    count = 11 * 4 * 12
    cell = np.arange(count)
    columns = [["fifo", "lru", "clock", "lfu"][each % 4] for each in cell], [str(1 + each // 44) for each in cell], 4 + cell // 4 % 11, cell / 1000, count - cell
    for draw in (front, sweep):
        for width in (1, 2):
            figure = draw(sweep_file(*columns), wanted(metric="swapouts", columns=width))
            figure.canvas.draw()
            box = next(each for each in figure.legends + [each.get_legend() for each in figure.axes[::-1]] if each).get_window_extent()
            whole = figure.bbox
            assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1, (draw, width, box, whole)
            plt.close(figure)


def sweeps_say_which_policy_they_show():
    result = sweep_file(["fifo", "lru"], ["1", "1"], [16, 16], [0, 0], [50, 40])
    assert "lu n=8 on small, core-L1, fifo (of fifo, lru)" in texts_of(sweep(result, wanted()))
    assert "lu n=8 on small, core-L1, lru (of fifo, lru)" in texts_of(sweep(result, wanted(eviction="lru")))


def equal_curves_are_one_with_both_names():
    result = sweep_file(["fifo"] * 6, ["1", "1", "2", "2", "3", "3"], [16, 64] * 3, [0] * 6, [50, 40, 30, 20, 50, 40])
    axes = sweep(result, wanted()).axes[1]
    assert [each.get_label() for each in axes.lines] == ["G = 1\nG = 3", "G = 2"], [each.get_label() for each in axes.lines]
    rows = {"link": ["a-b"] * 4 + ["b-c"] * 4, "granularity": ["1"] * 8, "drain": ["full", "full", "half", "half"] * 2,
            "counters": np.array([16, 64] * 4), "capacity": np.full(8, 512), "extra_cycles": np.array([5, 6, 5, 6, 7, 8, 7, 9])}
    figure = intrusion(result_of("intrusion", {"intrusion/rows": rows}), wanted())
    labels = [[each.get_text() for each in axes.get_legend().get_texts()] for axes in figure.axes]
    assert labels == [["G = 1, full\nG = 1, half"], ["G = 1, full", "G = 1, half"]], labels
    drawn = [[each.get_ydata().tolist() for each in axes.lines] for axes in figure.axes]
    assert drawn == [[[5, 6]], [[7, 8], [7, 9]]], drawn


def probe_file(name, cycles):
    """One response curve over four footprints, and a finding of another test."""
    where = "curves/00_response_robust_latency"
    finding = {"test": ["l1"], "variant": ["robust"], "level": ["L1"], "parameter": ["capacity"], "value": [4096.0], "low": [4096.0],
               "high": [4096.0], "truth": [np.nan]}
    attributes = [(where, "test", "response"), (where, "variant", "robust"), (where, "name", "latency"), (f"{where}/x", "units", "bytes"),
                  (f"{where}/value", "units", "cycles")]
    return result_of(name, {where: {"x": [1024.0, 2048, 4096, 8192], "value": cycles}, "findings": finding}, attributes)


def curves_of_two_files_lie_over_each_other():
    first, other = probe_file("measured", [4.0, 4, 14, 14]), probe_file("model", [4.0, 5, 13, 12])
    axes = curves(first, wanted(beside=other.path)).axes[0]
    assert [each.get_ydata().tolist() for each in axes.lines if len(each.get_ydata())] == [[4, 4, 14, 14], [4, 5, 13, 12]]
    labels = [each.get_text() for each in axes.get_legend().get_texts()]
    assert labels[0] == "robust" and labels[1].startswith("robust, model"), labels


def levels_are_marked_where_their_capacities_lie():
    yaml = ('caches:\n  - {name: L1D, next: L2, size: 128, ways: 2}\n  - {name: L1I, next: L2, size: 64, ways: 1}\n'
            '  - {name: "L2", next: memory, size: 2 KiB, ways: 2}\n')
    links = {"core-L1D": ("core", "L1D"), "core-L1I": ("core", "L1I"), "L1D-L2": ("L1D", "L2"), "L1I-L2": ("L1I", "L2"), "L2-memory": ("L2", "memory")}
    attributes = [("links", "names", list(links))] + [(f"links/{name}", end, at) for name, ends in links.items() for end, at in zip(("from", "to"), ends)]
    file = result_of("levels", {**{f"links/{name}": {"x": [0]} for name in links}, "machine": {"yaml": [yaml]}}, attributes)
    assert levels_behind(file, "core-L1D") == {"L1D": 128, "L2": 2048}
    assert levels_behind(file, "L1I-L2") == {"L2": 2048} and levels_behind(file, "core-L9") == {}
    _, ax = plt.subplots()
    ax.set_xlim(64, 1024)
    mark_levels(ax, levels_behind(file, "core-L1D"))
    assert [each.get_text() for each in ax.texts] == ["L1D"] and ax.collections[0].get_segments()[0][:, 0].tolist() == [128, 128]


def miss_ratios_of_reuse_are_those_by_hand():
    first = 2**64 - 1
    file = result_of("reuse", {
        "reuse/core-L1_64": {"structures": ["A", "B"]},
        "reuse/core-L1_64/distances": {"structure": np.array([0, 0, 0, 1, 1]), "phase": np.array([0, 0, 1, 0, 1]),
                                       "distance": np.array([0, first, 2, 1, first], np.uint64), "count": np.array([4, 1, 3, 1, 1], np.uint64)},
        "reuse/core-L1_64/curve": {"capacity": np.array([0, 1, 2, 3], np.uint64)}, "input": {"settings": ["n=8"]}, "machine": {"yaml": ["-"]},
        "phases": {"name": ["phase 0", "phase 1"]}},
        [("reuse", "groups", ["core-L1_64"]), ("reuse/core-L1_64", "link", "core-L1"), ("reuse/core-L1_64", "line_bytes", 64), ("input", "name", "lu"),
         ("machine", "name", "small")])
    curves = {line.get_label(): (list(line.get_xdata()), list(np.round(line.get_ydata(), 9))) for line in reuse(file, wanted()).axes[0].lines}
    assert curves == {"all": ([64, 128, 192, 256], [60, 50, 20, 20]), "A": ([64, 128, 192, 256], [50, 50, 12.5, 12.5]),
                      "B": ([64, 128, 192, 256], [100, 50, 50, 50])}, curves  # on to the next power of two
    assert not reuse(file, wanted()).axes[0].texts  # a file that has no links
    one = reuse(file, wanted(phases=[1], structure="A")).axes[0].lines
    assert [(line.get_label(), list(line.get_ydata())) for line in one] == [("A", [100, 100, 0, 0])]
    for refused in ({"structure": "C"}, {"phases": [1], "structure": "D"}):
        try:
            reuse(file, wanted(**refused))
            raise AssertionError(refused)
        except Refused:
            pass


def curves_look_different_beyond_eight():
    assert len({tuple(map(str, style(i).values())) for i in range(256)}) == 256
    assert len({(style(i)["color"], style(i)["marker"]) for i in range(64)}) == 64
    assert len({(style(i)["color"], str(style(i)["linestyle"])) for i in range(32)}) == 32
    assert [number(each) for each in (999499, 999500, 999999, 1e6, 999.6, 12345)] == ["999k", "1M", "1M", "1M", "1k", "12.3k"]
