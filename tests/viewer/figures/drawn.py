# SPDX-License-Identifier: BSD-3-Clause
# What figures draw beside what the file has, read with h5py and numpy alone. Run after the script of `cachetally figure`, without its last
# line: argv is a directory, and the program that has the core compute what is painted (data/main.cpp). Each function without parameters is a case; names those that failed.
import os
import subprocess
import traceback

script = set(globals())


def result_of(name, groups, attributes=(), **root):
    """A file with the columns of its groups; an attribute is a group, a name and a value."""
    path = f"{sys.argv[1]}/{name}{len(os.listdir(sys.argv[1]))}.h5"
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "cachetally result", **root})
        for group, columns in groups.items():
            for column, values in columns.items():
                texts = {"dtype": h5py.string_dtype()} if isinstance(values[0], str) else {}
                file.create_dataset(f"{group}/{column}", data=values, **texts)
        for group, attribute, value in attributes:
            file[group].attrs[attribute] = value
    return Result(path)


def lines_file(name, address, phase, accesses, misses=None, line=64, program="lu", **root):
    group = {"address": np.array(address, np.uint64), "phase": np.array(phase, np.uint32), "accesses": np.array(accesses, float),
             "misses": np.zeros(len(address)) if misses is None else np.array(misses, float)}
    return result_of(name, {"combined/L1": group, "input": {"settings": ["n=8"]}, "machine": {"yaml": ["-"]}},
                     [("combined", "names", ["L1"]), ("combined/L1", "line_bytes", line), ("input", "name", program), ("machine", "name", "small")], **root)


def wanted(**given):
    return argparse.Namespace(**{"level": "", "structure": "", "what": "accesses", "phases": None, "log": False, "linear": False, "columns": 2,
                                 "metric": "", "eviction": "", "test": "", "variant": "", "beside": "", "more": [], "x": "", "y": "", "value": "",
                                 "facet": "", "lines": "", "where": "", "standing": [], "workload": [], "link": "", **given})


def core(kind, result, options):
    """The file that the core makes for a figure, or what it says of why it does not."""
    path = f"{sys.argv[1]}/data{len(os.listdir(sys.argv[1]))}.h5"
    phases = [f"--phases={','.join(map(str, options.phases))}"] if options.phases else []
    given = [f"--{name}={getattr(options, name)}" for name in ("level", "structure", "what", "columns") if getattr(options, name)]
    flags = [f"--{name}" for name in ("log", "linear") if getattr(options, name)]
    run = subprocess.run([sys.argv[2], kind, result.path, path, *phases, *given, *flags], capture_output=True, text=True)
    if run.returncode != 0:
        raise Refused(run.stderr)
    return run.stdout.strip() if kind == "numbers" else path


def painted(kind):
    draw = KINDS[kind]
    return lambda result, options: draw(result, argparse.Namespace(**{**vars(options), "data": core(kind, result, options)}))


histogram, small_multiples, heat = map(painted, ("histogram", "phases", "heat"))


def texts_of(figure):
    return [each.get_text() for each in figure.findobj(matplotlib.text.Text) if each.get_text() and each.get_visible()]


def fronts_file(name, workloads, links, errors, machine="", **columns):
    """A cell per error in each workload and link, of granularities 1, 2, ...; traffic falls as the error rises."""
    places = [(workload, link) for workload in workloads for link in links]
    cells = [(workload, link, i, error) for workload, link in places for i, error in enumerate(errors)]
    rows = {"workload": [each[0] for each in cells], "link": [each[1] for each in cells], "settings": [""] * len(cells), "eviction": ["fifo"] * len(cells),
            "granularity": [str(each[2] + 1) for each in cells], "counters": np.full(len(cells), 16, np.uint32), "error": np.array([each[3] for each in cells]),
            "bytes_per_event": np.array([1 / (1 + each[2]) for each in cells]), **columns}
    ran = {"machine": {"yaml": ["-"]}} if machine else {}
    return result_of(name, {"sweep/rows": rows, **ran}, [("sweep", "link", ",".join(links)), ("sweep", "tolerance", 0.05), *[(each, "name", machine) for each in ran]])


def trackers_file(name, errors, traffic):
    count = len(errors)
    return result_of(name, {"trackers/rows": {"tracker": [f"t{i}" for i in range(count)], "error": np.array(errors), "bytes_per_event": np.array(traffic),
                                              "bits": np.full(count, 99, np.uint64), "area": np.full(count, 9, np.uint64)}, "input": {"settings": ["n=8"]}},
                     [("trackers", "link", "core-L1"), ("input", "name", "lu")])


def line_named(axes, begin):
    return next(each for each in axes.lines if each.get_label().startswith(begin))


def fronts_of_workloads_links_and_files_have_one_scale():
    one, other = fronts_file("a", ["lu", "radix"], ["core-L1"], [0.0, 0.1]), fronts_file("b", ["fft"], ["core-L1", "L1-L2"], [0.2, 0.5])
    axes = [each for each in front(one, wanted(more=[other.path])).axes if each.get_visible()]
    assert [each.get_title(loc="left") for each in axes] == ["lu, core-L1", "radix, core-L1", "fft, core-L1", "fft, L1-L2"]
    assert len({each.get_xlim() for each in axes}) == len({each.get_ylim() for each in axes}) == 1
    assert axes[0].get_xlim()[1] >= 50, "the widest decides"
    for each, errors in zip(axes, [[0, 10], [0, 10], [20, 50], [20, 50]]):
        assert np.allclose(line_named(each, "front").get_xdata(), errors), each.get_title(loc="left")


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
            assert "21 panels of workloads, links and settings are too many" in refusal(sweep, cells, wanted(metric="error"))


def trackers_stand_on_the_front_of_the_sweep():
    # by hand: cells (0, 1), (10, 1/2), (20, 1/3); t0 beats the second, t1 nothing, t2 is beaten
    cells, trackers = fronts_file("a", ["lu n=8", "radix"], ["core-L1", "L1-L2"], [0.0, 0.1, 0.2]), trackers_file("t", [0.05, 0.5, 0.5], [0.5, 0.1, 0.2])
    drawn, *others = front(cells, wanted(beside=trackers.path)).axes[:4]
    for other in others:  # of other workloads and links
        assert np.allclose(line_named(other, "front").get_xdata(), [0, 10, 20]), line_named(other, "front").get_xdata()
    try:
        front(fronts_file("b", ["radix"], ["core-L1"], [0.0]), wanted(beside=trackers.path))
        assert False, "trackers of another workload are drawn"
    except Refused as error:
        assert "its trackers are of lu n=8 on " in str(error), error
    line = line_named(drawn, "front")
    assert np.allclose(np.column_stack(line.get_data()), [(0, 1), (5, 0.5), (20, 1 / 3), (50, 0.1)]), line.get_data()
    alone = front(trackers, wanted()).axes[0]
    assert np.allclose(line_named(alone, "front").get_xdata(), [5, 50])
    assert sorted(each.get_text() for each in alone.texts if each.get_text()) == ["t0", "t1"]


def titles_of(figure):
    """Titles of panels by row; None where there is no panel."""
    rows = {}
    for axes in figure.axes:
        rows.setdefault(axes.get_subplotspec().rowspan.start, []).append(axes.get_title(loc="left").replace("\n", " ") if axes.get_visible() else None)
    return list(rows.values())


def name_of(result):
    return result.path.rsplit("/", 1)[-1]


def panels_of_one_workload_stand_beside_each_other():
    """Whatever the order in the files, and however their machines call their links; titles say what differs."""
    one, other = fronts_file("a", ["lu", "radix", "fft"], ["core-L1"], [0.0], "small"), fronts_file("b", ["fft", "lu"], ["core-L1D"], [0.1], "big")
    a, b = name_of(one), name_of(other)
    pairs = [f"{a}: lu on small, core-L1", f"{b}: lu on big, core-L1D", f"{a}: radix on small, core-L1", None, f"{a}: fft on small, core-L1", f"{b}: fft on big, core-L1D"]
    assert titles_of(front(one, wanted(more=[other.path], columns=1))) == [pairs[:2], pairs[2:4], pairs[4:]]
    assert titles_of(front(one, wanted(more=[other.path]))) == [pairs[:3], [*pairs[4:], None]], "no column is empty"
    alike = fronts_file("c", ["radix", "lu"], ["L1-L2", "core-L1"], [0.0], "small")
    names = [f"{name_of(each)}: {workload}, {link}" for workload in ("radix", "lu") for link in ("L1-L2", "core-L1") for each in ([alike, one] if link == "core-L1" else [alike])]
    figure = front(alike, wanted(more=[one.path], workload=["radix", "lu"]))
    assert titles_of(figure) == [[names[0], names[1], names[2]], [names[3], names[4], names[5]]], titles_of(figure)
    assert any(text == "on small" for text in texts_of(figure)), "what all have in common"
    three = titles_of(front(one, wanted(more=[one.path.replace(a, name_of(copied(one, f"{i}")))  for i in (1, 2)], columns=1, workload=["lu", "radix"])))
    assert [[title is not None for title in row] for row in three] == [[True, True], [True, False]] * 2 and ["lu" in row[0] for row in three] == [True, True, False, False]


def copied(result, name):
    path = f"{sys.argv[1]}/copy{name}.h5"
    with open(result.path, "rb") as source, open(path, "wb") as target:
        target.write(source.read())
    return Result(path)


def rings_of_other_objectives_look_different_and_name_their_files():
    remains = {"remains": np.array([1, 0], np.uint8)}
    one, other = fronts_file("a", ["lu"], ["core-L1"], [0.0, 0.1], **remains), fronts_file("b", ["radix"], ["core-L1"], [0.0, 0.1], **remains)
    figure = front(one, wanted(more=[other.path], standing=[":error,bytes,bits:5", ":error,bits:5"]))
    rings = [next(each for each in axes.lines if each.get_gid() == "remain") for axes in figure.axes[:2]]
    assert [each.get_marker() for each in rings] == ["o", "s"] and [circled(axes) for axes in figure.axes[:2]] == [[0], [0]]
    legend = {text.get_text(): handle.get_marker() for text, handle in zip(figure.legends[0].get_texts(), figure.legends[0].get_lines())}
    assert legend[f"remain of the front in error, bytes, bits (5 %): {name_of(one)}"] == "o", legend
    assert legend[f"remain of the front in error, bits (5 %): {name_of(other)}"] == "s", legend
    assert titles_of(figure) == [[f"{name_of(one)}: lu, core-L1", f"{name_of(other)}: radix, core-L1"]]
    same = front(one, wanted(more=[other.path], standing=[":error,bits:5"] * 2))
    assert [each for each in texts_of(same) if each.startswith("remain")] == ["remain of the front in error, bits (5 %)"]


def panels_with_trackers_say_so():
    cells, trackers = fronts_file("a", ["lu n=8"], ["core-L1"], [0.0, 0.1]), trackers_file("t", [0.05], [0.5])
    assert titles_of(front(cells, wanted(beside=trackers.path))) == [[f"lu n=8, core-L1, with trackers of {name_of(trackers)}"]]
    both = titles_of(front(cells, wanted(more=[trackers.path])))
    assert both == [[f"{name_of(cells)}: lu n=8, core-L1", f"{name_of(trackers)}: lu n=8, core-L1, trackers"]], both


def circled(axes):
    return sorted(round(x, 9) for each in axes.lines if each.get_gid() == "remain" for x in each.get_xdata())


def the_front_is_of_the_first_objective_beside_the_error():
    cells = fronts_file("a", ["lu"], ["core-L1"], [0.0, 0.1], bits=np.array([9.0, 5.0]))
    assert front(cells, wanted(standing=["11:error,bits:5"])).axes[0].get_ylabel() == "bits"
    assert front(cells, wanted(standing=["11:error,slowdown:5"])).axes[0].get_ylabel() == "bytes per event", "of what no file has nothing is drawn"
    within = [[each.get_text() for each in front(cells, wanted(standing=[f"{said}:error,bits:5"])).axes[0].texts] for said in ("00", "01")]
    assert ["no cell is within the bounds" in texts for texts in within] == [True, False], within


def what_remains_is_what_the_file_says():
    """Not what error and the metric drawn would leave: with other objectives the cells that remain lie off the staircase."""
    own = {"admitted": np.array([1, 1, 1, 1, 0], np.uint8), "front": np.array([0, 1, 1, 0, 0], np.uint8), "remains": np.array([0, 0, 1, 0, 0], np.uint8)}
    cells = fronts_file("a", ["lu"], ["core-L1"], [0.0, 0.1, 0.109, 0.2, 0.3], **own)
    drawn = front(cells, wanted()).axes[0]
    assert np.allclose(line_named(drawn, "front").get_xdata(), [0, 10, 10.9, 20]), "what the bounds leave out is on no front"
    assert circled(drawn) == [10.9] and [each.get_text() for each in drawn.texts if each.get_text()] == ["G = 3, C = 16"]
    # what the tool hands over where it is asked for other objectives
    figure = front(cells, wanted(standing=["31002:bits,error:12.5"]))
    assert circled(figure.axes[0]) == [0] and np.allclose(line_named(figure.axes[0], "front").get_xdata(), [0, 10, 30])
    assert "remain of the front in bits, error (12.5 %)" in texts_of(figure) and "front in error, bytes" in texts_of(figure)
    both = front(cells, wanted(more=[cells.path], standing=["00003:bits:5", ""])).axes
    assert [circled(each) for each in both[:2]] == [[30], [10.9]]


def settings_file(name, settings):
    """Of each settings two cells; the last one's remain."""
    count = 2 * len(settings)
    return fronts_file(name, ["lu n=64 with a long name of many words"], ["core-L1"], [i / count for i in range(count)], settings=[each for each in settings for _ in range(2)],
                       remains=np.array([i >= count - 2 for i in range(count)], np.uint8), bytes_per_event=np.linspace(1, 2, count))


def many_settings_can_be_read():
    for many in (2, 16, 40):
        # in full, as they have not all the same keys
        names = ["width=0", *(f"width={i},path=memory,kinds=load,capacity=1K" for i in range(1, many))]
        for files in (1, 2, 3):
            for width in (1, 2):
                results = [settings_file(f"f{many}", names) for _ in range(files)]
                figure = front(results[0], wanted(columns=width, more=[each.path for each in results[1:]]))
                figure.canvas.draw()
                panels = [each for each in figure.axes if each.get_visible()]
                cells = [line for axes in panels for line in axes.lines if line.get_label().startswith("C = ")]
                assert max(line.get_markersize() for line in cells) == MARK
                shown = [each.get_text().replace("\n", " ") for each in figure.legends[0].get_texts()]
                assert (names[-1] in shown) and (names[1] in shown) == (many == 2), shown
                assert (f"{many - 2} other settings" in shown) == (many > 8), "the least, which is the front, and the one that remains"
                whole, titles = figure.bbox, [axes.get_title(loc="left") for axes in panels]
                assert files == 1 or len(set(titles)) == files and all(f"f{many}" in each for each in titles), titles
                boxes = [axes.get_window_extent() for axes in panels] + [figure.legends[0].get_window_extent()]
                boxes += [axes._left_title.get_window_extent() for axes in panels if axes.get_title(loc="left")]
                assert boxes[0].height > 0.9 * figure.dpi and boxes[0].width > 0.9 * figure.dpi, "panels keep their room"
                for i, box in enumerate(boxes):
                    assert whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1, (many, files, width, i)
                    assert not any(box.overlaps(other) for other in boxes[:i]), (many, files, width, i)
                for axes in panels:
                    frame = axes.get_window_extent()
                    for line in axes.lines:
                        x, y = axes.transData.transform(line.get_xydata()).T
                        assert len(x) == 0 or min(x.min() - frame.x0, frame.x1 - x.max(), y.min() - frame.y0, frame.y1 - y.max()) > MARK, "points are not cut"
                    for text in axes.texts:
                        box = text.get_window_extent()
                        assert not text.get_text() or whole.x0 <= box.x0 and box.x1 <= whole.x1, text.get_text()
                plt.close(figure)


def panels_without_one_below_have_numbers():
    figure = front(fronts_file("a", ["lu", "radix", "fft", "ocean", "fmm"], ["core-L1"], [0.0, 0.1]), wanted())
    figure.canvas.draw()
    numbered = [any(each.get_text() and each.get_visible() for each in axes.get_xticklabels()) for axes in figure.axes[:5]]
    assert numbered == [False, True, True, True, True], numbered


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
    norm = colour_scale(np.array([0.0, 1, 9, 999]), "swapouts")
    assert np.allclose(np.asarray(norm([0.0, 9, 999])), [0, 1 / 3, 1])
    assert isinstance(colour_scale(np.array([1.0, 29]), "bits"), Normalize) and isinstance(colour_scale(np.array([1.0, 31]), "bits"), LogNorm)


def structures_lie_from_their_first_to_their_last_byte():
    """Over what is between; of two stretches of 8 lines the gap is 13 bytes: 1.2 % of 1024, rounded up."""
    address = np.concatenate([0x10000 + 64 * np.arange(8), 0x900000 + 64 * np.arange(8)])
    file = with_structures(lines_file("places", address, [0] * 16, [1] * 16), ["all", "one", "none", "before"],
                           [0x10020, 0x900040, 0x500000, 0xFF00], [0x8F0000, 64, 64, 16])
    counts = Counts(core("histogram", file, wanted()))
    assert counts.length == 1024 + 13
    assert counts.places[:2] == [(32, 525 + 32), (525 + 64, 525 + 128)], counts.places
    assert np.isnan(counts.places[2:]).all()


def with_structures(file, names, base, size):
    file.file.close()
    with h5py.File(file.path, "r+") as h5:
        for name, column in (("base", base), ("bytes", size)):
            h5[f"structures/{name}"] = np.array([*column, 0], np.uint64)
        h5["structures/element_bytes"] = np.full(len(names) + 1, 8, np.uint32)
        h5["structures/name"] = np.array([each.encode() for each in [*names, "elsewhere"]])
    return Result(file.path)


def axes_have_addresses_and_structures_and_mark_holes():
    """Two stretches of 8 lines, the hole between them 13 bytes wide: by hand, marks are 256 bytes apart, and the hole is at 512 + 6.5."""
    address = np.concatenate([0x10000 + 64 * np.arange(8), 0x900000 + 64 * np.arange(8)])
    file = with_structures(lines_file("marks", np.tile(address, 2), [0] * 16 + [1] * 16, [1] * 32), ["first", "b"], [0x10000, 0x900000], [512, 512])
    for kind in (histogram, small_multiples, heat):
        figure = kind(file, wanted())
        panels = [axes for axes in figure.axes if axes.get_visible() and any(each.get_label() == "holes" for each in axes.collections)]
        assert len(panels) == (3 if kind is small_multiples else 1), kind
        for axes in panels:
            (holes,) = [each for each in axes.collections if each.get_label() == "holes"]
            assert [part[:, 0].tolist() for part in holes.get_segments()] == [[518.5, 518.5]]
            shown = [each.get_text() for each in axes.texts]
            assert "first" in shown and "b" in shown, shown
        axes = panels[-1]
        stretches = [each.get_xdata().tolist() for each in axes.lines if each.get_label() == "stretch"]
        assert stretches == [[0, 512], [525, 1037]], "the line breaks where a hole is"
        marks, texts = line_named(axes, "marks").get_xdata(), [each.get_text() for each in axes.texts if each.get_text().startswith("0x")]
        if kind is not small_multiples:
            assert marks.tolist() == [0, 256, 525, 781] and texts == ["0x10000", "0x10100", "0x900000", "0x900100"], (marks, texts)
        else:
            assert marks.tolist() == [0, 525] and texts == ["0x10000", "0x900000"], (marks, texts)
        plt.close(figure)


def labels_of_addresses_have_room():
    """Of panels side by side the last of each column alone has them, and structures whose names do not fit have their begin."""
    random = np.random.default_rng(3)
    for stretches in (1, 7, 60):
        base = np.sort(random.choice(1 << 20, stretches, False)) * 0x100000 + (0x7ff000000000 if stretches == 60 else 0)
        address = (base[:, None] + 64 * np.arange(30)).ravel()
        for phases in (2, 6):
            file = lines_file("room", np.tile(address, phases), np.repeat(np.arange(phases), len(address)), np.full(phases * len(address), 3))
            file = with_structures(file, [f"a_long_name_of_what_lies_here{i}" for i in range(stretches)], base, [64 * 30] * stretches)
            for kind in (histogram, small_multiples, heat):
                for width in (1, 2):
                    figure = kind(file, wanted(columns=width))
                    figure.canvas.draw()
                    labelled = [axes for axes in figure.axes if any(each.get_text().startswith("0x") for each in axes.texts)]
                    across = width + (phases > 4)
                    assert len(labelled) == (min(across, phases + 1) if kind is small_multiples else 1), (stretches, phases, kind, width)
                    boxes = [each.get_window_extent() for axes in figure.axes for each in axes.texts if each.get_text() and axes.get_visible()]
                    for i, box in enumerate(boxes):
                        assert 0 <= box.x0 and box.x1 <= figure.bbox.x1 and 0 <= box.y0, (stretches, phases, kind, width)
                        assert not any(box.overlaps(other) for other in boxes[:i]), (stretches, phases, kind, width)
                    plt.close(figure)
    assert [shortened("molecules", letters) for letters in (9, 8.9, 4, 3.9)] == ["molecules", "molecul\u2026", "mol\u2026", ""]


def miss_rates_of_columns_are_misses_over_accesses():
    """Two lines in each column of 1800: 1 of 1 and 1 of 9 are 2 of 10."""
    lines = np.arange(1800)
    result = lines_file("rates", 0x10000 + 64 * lines, [0] * 1800, np.where(lines % 2, 9, 1), np.ones(1800))
    (picture,) = Counts(core("histogram", result, wanted(what="missrate"))).pictures
    assert np.allclose(picture.mean, 20) and np.allclose(picture.most, 100) and picture.above == 0 and picture.end == 100


def columns_of_histograms_are_those_of_numpy():
    random = np.random.default_rng(5)
    line = np.unique(random.integers(0, 5000, 3000))
    line = np.union1d(line, np.arange(0, 5000, 60))  # no holes
    phase, accesses = random.integers(0, 3, len(line)), random.integers(1, 99, len(line))
    result = lines_file("columns", 0x40000 + 64 * line, phase, accesses)
    counts = Counts(core("histogram", result, wanted(phases=[0, 2])))
    first, size = line.min(), 1 + line.max() - line.min()
    assert counts.length == 64 * size
    for i in random.integers(0, 900, 200):
        own = (phase != 1) & ((line - first) * 900 // size == i)
        mean, most = counts.pictures[0].mean[i], counts.pictures[0].most[i]
        assert np.isclose(mean, accesses[own].mean()) and most == accesses[own].max() if own.any() else np.isnan(mean), i


def cells_of(figure):
    """The colours of a heat map's cells, (red, green, blue, opacity)."""
    return np.asarray(figure.axes[0].images[0].get_array())


def rgb(text):
    return np.array([int(text[i:i + 2], 16) for i in (1, 3, 5)])


def colours_of(values, log=False, chosen=False):
    """By the rule in docs/viewer.md, value by value: 48 steps of the ramp to the end of the scale."""
    light = DRAWING["light"]
    known = sorted(each for row in values for each in row if each > 0)
    most = known[-1] if known else 0
    at = 0.99 * (len(known) - 1)
    clip = known[int(at)] + (at % 1) * (known[min(int(at) + 1, len(known) - 1)] - known[int(at)]) if known else 0
    end = clip if most > 4 * clip and not log and not chosen else most
    colours = np.zeros((len(values), len(values[0]), 4), int)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if np.isnan(value):
                continue
            colours[i, j, 3] = 255
            if value <= 0 or value > end:
                colours[i, j, :3] = rgb(light["zero" if value <= 0 else "marker"])
                continue
            place = np.log(value / known[0]) / np.log(end / known[0]) if log and end > known[0] else value / end
            step = min(47, int(place * 48 + 1e-9))
            place = min(0.9999, step / 47) * (len(light["ramp"]) - 1)
            below, above = (rgb(each) for each in light["ramp"][int(place):int(place) + 2])
            colours[i, j, :3] = [int(a + (b - a) * (place % 1) + 0.5) for a, b in zip(below, above)]
    return colours


def nearly(cells, colours):
    """But for steps that rounding decides."""
    return np.mean(np.abs(cells.astype(int) - colours).max(axis=2) > 1) < 0.002


def share_of(lines):
    """By line and column: which part of the line is in the column, of 600 over all lines."""
    i, column = np.arange(lines)[:, None], np.arange(600)[None, :]
    return np.maximum(0, np.minimum((i + 1) * 600, (column + 1) * lines) - np.maximum(i * 600, column * lines)) / 600


def refusal(call, *arguments):
    try:
        return f"gave {call(*arguments)}"
    except Refused as error:
        return str(error)


def phases_have_their_names():
    file = lines_file("named", [0, 64, 0, 64], [0, 0, 1, 2], [1, 2, 3, 4])
    file.file.close()
    with h5py.File(file.path, "r+") as h5:
        names = h5.create_dataset("phases/name", data=np.array([b"phase 0", b"so\x1blve", b"touch all blocks of the matrix, then those of its transpose"]))
        names.attrs["description"] = "by the program"
    named = Result(file.path)
    assert named.phase_names()[0] == "phase 0"
    titles = [each.get_title(loc="left").rstrip("\n") for each in small_multiples(named, wanted()).axes][:3]
    assert titles[:2] == ["phase 0: phase 0", "phase 1: so\ufffdlve"], titles
    assert titles[2].startswith("phase 2: touch all blocks") and titles[2].endswith("\u2026"), titles
    last = "touch all blocks of the matrix, then those of its transpose"
    for text, numbers in (("1", "1"), ("0-1", "0,1"), ("phase 0", "0"), (last, "2"), ("2,phase 0", "2,0"), ("1-", "1")):
        assert core("numbers", named, wanted(phases=[text])) == numbers, text
    for text, why in (("solve", "or names: phase 0, "), ("3", "no phase 3; there are 3, from 0"), ("1-x", "no list"), ("-1", "no list"), ("1,", "no list")):
        assert why in refusal(core, "numbers", named, wanted(phases=[text])), text
    named.file.close()
    with h5py.File(file.path, "r+") as h5:
        del h5["phases/name"].attrs["description"]
    assert Result(file.path).phase_names()[0] == ""


def heat_cells_are_means_per_line_and_phase():
    random = np.random.default_rng(7)
    for phases, lines in ((3, 600), (257, 1200), (1000, 40), (10000, 300), (1, 17)):
        diagonal = np.arange(phases) * lines // phases
        line = np.concatenate([diagonal, random.integers(0, lines, 400), [0, lines - 1]])
        phase = np.concatenate([np.arange(phases), random.integers(0, phases, 400), [0, 0]])
        place, at = np.unique(phase * lines + line, return_inverse=True)
        phase, line = place // lines, place % lines
        accesses = random.integers(1, 50, len(place))
        result = lines_file(f"heat{phases}", 0x4000 + 64 * line, phase, accesses, accesses // 3)
        rows = min(phases, 256)
        first = [row * phases // rows for row in range(rows + 1)]
        for what, count in (("accesses", accesses), ("misses", accesses // 3), ("hits", accesses - accesses // 3)):
            for options in ({}, {"linear": True}, {"log": True}):
                figure = heat(result, wanted(what=what, **options))
                assert list(figure.axes[0].images[0].get_extent()) == [0, 64 * lines, rows - 0.5, -0.5]
                dense = np.zeros((phases, lines))
                np.add.at(dense, (phase, line), count)
                dense = np.array([dense[a:b].sum(axis=0) for a, b in zip(first, first[1:])])
                ever = np.isin(np.arange(lines), line)
                with np.errstate(invalid="ignore"):
                    has = dense @ share_of(lines) / np.outer(np.diff(first), ever @ share_of(lines))
                assert nearly(cells_of(figure), colours_of(has, "log" in options, "linear" in options)), (phases, what, options)
                plt.close(figure)


def heat_of_a_uniform_file_is_uniform():
    """582 lines of 16 bytes that have 64 accesses each, in columns that take one line or two."""
    for lines in (599, 681, 700, 1800, 10007):
        for line_bytes in (16, 64):
            result = lines_file("uniform", np.tile(0x4008 // line_bytes * line_bytes + line_bytes * np.arange(lines), 3), np.repeat([0, 1, 2], lines),
                                np.full(3 * lines, 64.0), line=line_bytes)
            figure = heat(result, wanted())
            assert (cells_of(figure) == [*rgb(DRAWING["light"]["ramp"][-1]), 255]).all(), lines
            assert figure.axes[1].get_ylim() == (0, 64)
            plt.close("all")


def colour_at(figure, x, y, axes=None):
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())
    at = (axes or figure.axes[0]).transData.transform((x, y))
    return tuple(int(each) for each in pixels[pixels.shape[0] - 1 - int(at[1]), int(at[0])][:3])


def heat_tells_no_line_nothing_and_the_least_apart():
    # a structure of 8 lines, a hole, 8 more; in phase 1 the first eight have nothing; the least is 60 of 64
    address = 0x10000 + 64 * np.arange(8)
    far = 0x900000 + 64 * np.arange(8)
    for low, log in ((60, False), (60, True), (0.5, True), (1, False)):
        result = lines_file("apart", np.concatenate([address, far, far]), [0] * 16 + [1] * 8, [low] * 8 + [64] * 8 + [64] * 8)
        figure = heat(result, wanted(log=log, linear=not log))
        second = 512 + 13  # the gap is 1.2 % of 1024 bytes
        paper = colour_at(figure, 512 + 9.5, 0)  # beside the mark of the hole
        none, least, most = colour_at(figure, 250, 1), colour_at(figure, 250, 0), colour_at(figure, second + 250, 0)
        assert len({paper, none, least, most}) == 4, (paper, none, least, most)
        assert paper == (255, 255, 255)
        assert none == tuple(rgb(DRAWING["light"]["zero"])) and most == tuple(rgb(DRAWING["light"]["ramp"][-1]))
        # the legend is of the same colours
        bar = figure.axes[1]
        assert np.allclose(bar.get_ylim(), (low if log else 0, 64)), bar.get_ylim()
        for part in (0.01, 0.51, 0.99):
            at = low * (64 / low) ** part if log else 64 * part
            expected = colours_of([[low if log else 1e-9, at, 64]], log, True)[0, 1, :3]
            assert np.abs(np.array(colour_at(figure, 0.5, at, bar)) - expected).max() <= 8, (low, log, part)
        shown = texts_of(figure)
        assert any(each.startswith("accesses per line and phase") for each in shown) and "none" in shown, shown
        plt.close(figure)


def outliers_are_cut_and_marked():
    """200 lines of 10 and one of 1000: by hand 10 is what all but a hundredth reach, and 1000 more than four times that."""
    result = lines_file("outlier", 0x10000 + 64 * np.arange(600), [0] * 600, [10] * 599 + [1000])
    figure = heat(result, wanted())
    cells = cells_of(figure)
    assert (cells[0, 599, :3] == rgb(DRAWING["light"]["marker"])).all() and (cells[0, :599, :3] == rgb(DRAWING["light"]["ramp"][-1])).all()
    assert "1 cell up to 1k" in texts_of(figure), texts_of(figure)
    figure = histogram(result, wanted())
    assert "1 line up to 1k" in texts_of(figure) and abs(figure.axes[0].get_ylim()[1] - 10.6) < 1e-9
    (marks,) = [each.get_xdata() for each in figure.axes[0].lines if each.get_label() == "above"]
    assert [int(each // 64) for each in marks] == [599, 599], marks  # of 900 columns two begin in the last line
    for chosen in ("linear", "log"):
        figure = histogram(result, wanted(**{chosen: True}))
        assert not any("up to" in each for each in texts_of(figure)) and figure.axes[0].get_ylim()[1] >= 1000
    figure = histogram(lines_file("even", 0x10000 + 64 * np.arange(600), [0] * 600, [10] * 599 + [40]), wanted())
    assert not any("up to" in each for each in texts_of(figure))


def heat_without_any_says_so():
    figure = heat(lines_file("zero", [0x1000, 0x1040], [0, 0], [3, 4]), wanted(what="misses"))
    assert (cells_of(figure) == [*rgb(DRAWING["light"]["zero"]), 255]).all()
    assert [each.get_text() for each in figure.axes[0].get_yticklabels()].count("0") == 1


def titles_name_program_machine_and_selection():
    result = lines_file("titles", [0x1000, 0x1040, 0x1000], [0, 0, 1], [3, 4, 5], [1, 1, 1])
    for kind, of in ((histogram, "all 2 phases"), (small_multiples, "L1, lines of 64 bytes, all 2 phases"), (heat, "L1, lines of 64 bytes")):
        assert f"lu n=8 on small, {of}" in texts_of(kind(result, wanted())), texts_of(kind(result, wanted()))
    assert "lu n=8 on small, phase 1 of 2" in texts_of(histogram(result, wanted(phases=[1])))
    strange = lines_file("strange", [0x1000], [0], [3], program="a $x$ _\x1b[31m\nb", complete=0, incomplete="interrupted")
    text = next(each for each in texts_of(histogram(strange, wanted())) if "small" in each)
    assert text == "a $x$ _\ufffd[31m\ufffdb n=8 on small; partial: interrupted", text
    plt.close("all")


def sweep_file(eviction, granularity, counters, error, swapouts):
    rows = {"eviction": eviction, "granularity": granularity, "counters": np.array(counters, np.uint32), "error": np.array(error, float),
            "swapouts": np.array(swapouts, np.uint64), "bytes_per_event": np.array(swapouts, float)}
    return result_of("sweep", {"sweep/rows": rows, "input": {"settings": ["n=8"]}, "machine": {"yaml": ["-"]}},
                     [("sweep", "link", "core-L1"), ("input", "name", "lu"), ("machine", "name", "small")])


def many_cells(seed, count):
    random = np.random.default_rng(seed)
    eviction = random.choice(["fifo", "lru", "clock"], count)
    return [str(each) for each in eviction], [str(each) for each in random.integers(1, 7, count)], \
        random.choice([16, 32, 64], count), random.integers(0, 12, count) / 64, random.integers(1, 40, count)


def fronts_are_staircases_over_all_rows():
    for seed in range(5):
        eviction, granularity, counters, error, swapouts = columns = many_cells(seed, 40)
        for chosen in ("", "lru"):
            figure = front(sweep_file(*columns), wanted(metric="swapouts", eviction=chosen))
            axes = figure.axes[0]
            stairs = next(each for each in axes.lines if each.get_label() == "front in error, swapouts")
            assert stairs.get_drawstyle() == "steps-post"
            x, y = stairs.get_data()
            own = [i for i in range(40) if chosen in ("", eviction[i])]
            for at in np.linspace(error[own].min(), error[own].max(), 97) * 100:
                least = min(swapouts[i] for i in own if 100 * error[i] <= at)
                assert y[np.searchsorted(x, at, side="right") - 1] == least, (seed, chosen, at)
            marked = sorted((a, b) for each in axes.lines if each.get_label().startswith("C = ") for a, b in zip(*each.get_data()))
            assert marked == sorted((100 * error[i], float(swapouts[i])) for i in own), (seed, chosen)
            title = next(each for each in texts_of(figure) if each.startswith("lu n=8 on small, core-L1, "))
            for name in set(eviction):
                assert name in title, title
            assert (f"lru (of {', '.join(dict.fromkeys(eviction))})" in title) == (chosen == "lru"), title
            if not chosen:
                legend = [each.get_text() for each in figure.legends[0].get_texts()]
                assert set(legend) == {f"C = {c}" for c in counters} | set(eviction) | {"front in error, swapouts"}, legend
            plt.close(figure)


def cells_at_one_place_are_all_named():
    result = sweep_file(["fifo", "lru", "fifo", "lru"], ["1", "1", "2", "2"], [16, 16, 64, 64], [0, 0, 0.1, 0.1], [50, 50, 10, 20])
    shown = texts_of(front(result, wanted(metric="swapouts", standing=["3332:error:5"])))
    assert "G = 1, C = 16, fifo\nG = 1, C = 16, lru" in shown and "G = 2, C = 64" in shown, shown


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
