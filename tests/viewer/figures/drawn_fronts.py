# SPDX-License-Identifier: BSD-3-Clause
# Fronts of sweeps, and trackers on them, beside what the file has: after drawn.py.


def legends_of(figure):
    """Texts and lines of all legends, the upper first."""
    return [pair for each in reversed(figure.legends) for pair in zip(each.get_texts(), each.get_lines())]


def fronts_of_workloads_links_and_files_have_one_scale():
    one, other = fronts_file("a", ["lu", "radix"], ["core-L1"], [0.0, 0.1]), fronts_file("b", ["fft"], ["core-L1", "L1-L2"], [0.2, 0.5])
    axes = [each for each in front(one, wanted(more=[other.path])).axes if each.get_visible()]
    assert [each.get_title(loc="left") for each in axes] == ["lu, core-L1", "radix, core-L1", "fft, core-L1", "fft, L1-L2"]
    assert len({each.get_xlim() for each in axes}) == len({each.get_ylim() for each in axes}) == 1
    assert axes[0].get_xlim()[1] >= 50, "the widest decides"
    for each, errors in zip(axes, [[0, 10], [0, 10], [20, 50], [20, 50]]):
        assert np.allclose(line_named(each, "front").get_xdata(), errors), each.get_title(loc="left")


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
    within = line_named(front(cells, wanted(beside=trackers.path, standing=[":error,bytes:5:error<10"])).axes[0], "front")
    assert np.allclose(within.get_xdata(), [0, 5, 20]), "trackers beyond the bound are on no front"
    alone = front(trackers, wanted()).axes[0]
    assert np.allclose(line_named(alone, "front").get_xdata(), [5, 50])
    assert sorted(each.get_text() for each in alone.texts if each.get_text()) == ["t0", "t1", "t2"], "also what is beaten has its name"


def where_many_lie_on_one_place_trackers_and_what_remains_are_named():
    cells = sweep_file(["fifo", "lru", "clock", "lfu"], ["1"] * 4, [16] * 4, [0] * 4, [1] * 4)
    with h5py.File(trackers_file("t", [0.0, 0.0], [1.0, 0.9]).path, "r+") as file:
        file.create_dataset("machine/yaml", data=["-"])
        file["machine"].attrs["name"] = "small"
        path = file.filename
    shown = texts_of(front(cells, wanted(beside=path)))
    assert "t0" in shown and "t1" in shown and not any("G = 1" in each for each in shown), shown
    for line in front(cells, wanted(beside=path)).axes[0].lines:
        assert line.get_label() != "trackers" or line.get_fillstyle() == "none" and line.get_marker() == "D", "marks of trackers hide nothing"
    cells.file.close()
    with h5py.File(cells.path, "r+") as file:
        file["sweep/rows"].create_dataset("remains", data=np.uint8([0, 0, 1, 0]))
    shown = texts_of(front(Result(cells.path), wanted(beside=path)))
    assert "t0\nG = 1, C = 16, clock" in shown, shown


def partial_files_are_marked_over_several_panels():
    whole, cut = (fronts_file(name, ["lu", "fft"], ["core-L1"], [0.0, 0.1], "small") for name in ("whole", "cut"))
    cut.file.close()
    with h5py.File(cut.path, "r+") as file:
        file.attrs.update(complete=0, incomplete="interrupted after 3 of 4")
    for files, said in (([cut.path], "partial: interrupted after 3 of 4"), ([whole.path, cut.path], f"{cut.path} partial: interrupted after 3 of 4"), ([whole.path], None)):
        title = front(Result(files[0]), wanted(more=files[1:]))._suptitle.get_text()
        assert title.endswith(said) if said else "partial" not in title, title


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


def rings_of_other_objectives_name_their_files():
    remains = {"remains": np.array([1, 0], np.uint8)}
    one, other = fronts_file("a", ["lu"], ["core-L1"], [0.0, 0.1], **remains), fronts_file("b", ["radix"], ["core-L1"], [0.0, 0.1], **remains)
    figure = front(one, wanted(more=[other.path], standing=[":error,bytes,bits:5", ":error,bits:5"]))
    rings = [next(each for each in axes.lines if each.get_gid() == "remain") for axes in figure.axes[:2]]
    assert [each.get_marker() for each in rings] == ["o", "o"] and [circled(axes) for axes in figure.axes[:2]] == [[0], [0]]
    legend = [text.get_text() for text, _ in legends_of(figure)]
    assert f"remaining cells: front in error, bytes, bits within 5 %: {name_of(one)}" in legend, legend
    assert f"remaining cells: front in error, bits within 5 %: {name_of(other)}" in legend, legend
    assert titles_of(figure) == [[f"{name_of(one)}: lu, core-L1", f"{name_of(other)}: radix, core-L1"]]
    same = front(one, wanted(more=[other.path], standing=[":error,bits:5"] * 2))
    assert [each for each in texts_of(same) if each.startswith("remain")] == ["remaining cells: front in error, bits within 5 %"]


def panels_with_trackers_say_so():
    cells, trackers = fronts_file("a", ["lu n=8"], ["core-L1"], [0.0, 0.1]), trackers_file("t", [0.05], [0.5])
    assert titles_of(front(cells, wanted(beside=trackers.path))) == [[f"lu n=8, core-L1, with trackers of {name_of(trackers)}"]]
    other = fronts_file("b", ["radix"], ["core-L1"], [0.0, 0.1])
    for given in ([cells, trackers], [trackers, cells]):
        figure = front(given[0], wanted(more=[given[1].path]))
        assert titles_of(figure) == [[f"lu n=8, core-L1, with trackers of {name_of(trackers)}"]], "on the front of their workload, in any order"
        assert np.allclose(line_named(figure.axes[0], "front").get_xdata(), [0, 5]), line_named(figure.axes[0], "front").get_xdata()
        figure = front(given[0], wanted(more=[given[1].path, other.path, trackers.path]))
        assert titles_of(figure)[0] == [f"lu n=8, core-L1, with trackers of {name_of(trackers)}", "radix, core-L1"], titles_of(figure)
    assert titles_of(front(other, wanted(more=[trackers.path]))) == [["radix, core-L1", "lu n=8, core-L1, trackers"]], "without cells on their own"
    with h5py.File(trackers_file("cut", [0.05], [0.5]).path, "r+") as file:
        file["input"].attrs["count"] = 1000
        path = file.filename
    cut = titles_of(front(cells, wanted(more=[path])))[0]
    assert len(cut) == 2 and cut[1].endswith("lu n=8, core-L1, the first 1,000 references, trackers"), cut


def many_counters_leave_room_for_the_plot():
    for many in (12, 100):
        figure = front(sweep_file(["fifo"] * many, ["1"] * many, range(1, many + 1), np.linspace(0, 0.5, many), range(2 * many, many, -1)), wanted(metric="swapouts"))
        figure.canvas.draw()
        assert sum(each.get_window_extent().height for each in figure.legends) < 0.5 * figure.axes[0].get_window_extent().height
        names = [each.get_text() for each, _ in legends_of(figure) if each.get_text().startswith(("C = ", "and "))]
        assert len(names) <= 17 and names[0] == "C = 1" and (many < 17 or names[-1] == f"and {many - len(names) + 1} between"), names
        colours = {line.get_color() for line in figure.axes[0].lines if line.get_label().startswith("C = ")}
        assert len(colours) == many and LIGHT["many"][0] in colours and LIGHT["many"][-1] in colours, "each has a colour of its own"
    assert distinct_colours(3) == CURVES[:3] and distinct_colours(15)[2:5:2] == LIGHT["many"][1:3]


def the_axis_of_what_it_costs_has_several_numbers():
    for values in ([4300, 5100], [600, 1900], [11, 19], [7, 7], [1, 9e6], [3, 40], [0, 5]):
        figure = front(sweep_file(["fifo"] * 2, ["1", "2"], [16, 16], [0, 0.1], values), wanted(metric="swapouts"))
        figure.canvas.draw()
        low, high = figure.axes[0].get_ylim()
        named = [each.get_text() for each, at in zip(figure.axes[0].get_yticklabels(), figure.axes[0].get_yticks()) if low <= at <= high]
        assert len(named) > 1 and len(set(named)) == len(named) and "" not in named, (values, named)


def circled(axes):
    return sorted(round(x, 9) for each in axes.lines if each.get_gid() == "remain" for x in each.get_xdata())


def the_front_is_of_the_first_objective_beside_the_error():
    cells = fronts_file("a", ["lu"], ["core-L1"], [0.0, 0.1], bits=np.array([9.0, 5.0]))
    assert front(cells, wanted(standing=["11:error,bits:5"])).axes[0].get_ylabel() == "bits"
    assert front(cells, wanted(standing=["11:error,slowdown:5"])).axes[0].get_ylabel() == "bytes per event", "of what no file has nothing is drawn"
    figures = [front(cells, wanted(standing=[f"{said}:error,bits:5{where}"])) for said, where in (("00", ":error<9"), ("01", ":error<9"), ("00", ""))]
    within = [[each.get_text() for each in figure.axes[0].texts] for figure in figures]
    said = ["no cell is within the bounds: all are pale" in texts for texts in within], ["no event passed the monitors: all are pale" in texts for texts in within]
    assert said == ([True, False, False], [False, False, True]), within
    assert ["front in error, bits" in texts_of(figure) for figure in figures] == [False, True, False], "a line that is not drawn is in no legend"


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
    assert "remaining cells: front in bits, error within 12.5 %" in texts_of(figure) and "front in error, bytes" in texts_of(figure)
    both = front(cells, wanted(more=[cells.path], standing=["00003:bits:5", ""])).axes
    assert [circled(each) for each in both[:2]] == [[30], [10.9]]


def panels_without_cells_within_the_bounds_keep_their_places():
    cells = fronts_file("w", ["lu", "radix", "water", "fft"], ["core-L1", "L1-L2"], [0.0, 0.1])
    figure = front(cells, wanted(standing=[16 * "0" + ":error,bytes:5"]))
    figure.canvas.draw()
    tops = [legend.get_window_extent().y1 for legend in figure.legends]
    assert len(figure.axes) == 8
    assert min(axes.get_window_extent().y0 for axes in figure.axes if axes.get_visible()) > max(tops), tops


def rings_lie_on_the_line_where_both_are_of_the_same_objectives():
    """And off it where rings are of one more; the legend says of which each is. Fronts by the definition, cell by cell."""
    random = np.random.default_rng(11)
    error, bits, traffic = (random.integers(1, 20, 30).astype(float) for _ in range(3))

    def standing(*values):
        beats = [any(all(v[j] <= v[i] for v in values) and any(v[j] < v[i] for v in values) for j in range(30)) for i in range(30)]
        return "".join("1" if beaten else "3" for beaten in beats)

    cells = fronts_file("r", ["lu"], ["core-L1"], error / 100, bits=bits, bytes_per_event=traffic)
    for values, names, on in (((error, bits), "error,bits", True), ((error, bits, traffic), "error,bits,bytes", False)):
        figure = front(cells, wanted(metric="bits", standing=[f"{standing(*values)}:{names}:0"]))
        ring, line = (next(each for each in figure.axes[0].lines if which(each)) for which in (lambda each: each.get_gid() == "remain", lambda each: each.get_label().startswith("front in")))
        corners = {tuple(np.round(each, 6)) for each in line.get_xydata()}
        assert {tuple(np.round(each, 6)) in corners for each in ring.get_xydata()} == ({True} if on else {True, False}), names
        shown = texts_of(figure)
        assert "front in error, bits" in shown and f"remaining cells: front in {names.replace(',', ', ')} within 0 %" in shown, shown


def many_settings_can_be_read():
    for many in (2, 6, 7, 40):
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
                shown = [each.get_text().replace("\n", " ") for each, _ in legends_of(figure)]
                assert (names[-1] in shown) and (names[1] in shown) == (many <= 6), shown
                assert (f"{many - 2} other settings" in shown) == (many > 6), "the least, which is the front, and the one that remains"
                whole, titles = figure.bbox, [axes.get_title(loc="left") for axes in panels]
                assert files == 1 or len(set(titles)) == files and all(f"f{many}" in each for each in titles), titles
                boxes = [axes.get_window_extent() for axes in panels] + [each.get_window_extent() for each in figure.legends]
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
                legend = [each.get_text() for each, _ in legends_of(figure)]
                assert set(legend) == {f"C = {c}" for c in counters} | set(eviction) | {"front in error, swapouts"}, legend
            plt.close(figure)


def cells_at_one_place_are_all_named():
    result = sweep_file(["fifo", "lru", "fifo", "lru"], ["1", "1", "2", "2"], [16, 16, 64, 64], [0, 0, 0.1, 0.1], [50, 50, 10, 20])
    shown = texts_of(front(result, wanted(metric="swapouts", standing=["3332:error:5"])))
    assert "G = 1, C = 16, fifo\nG = 1, C = 16, lru" in shown and "G = 2, C = 64, fifo" in shown, shown


def worst_file(name):
    """Two workloads, of which the worst of all is in the file, too."""
    with h5py.File(fronts_file(name, ["lu", "radix"], ["core-L1"], [0.0, 0.1], bits=np.array([9.0, 5.0, 8.0, 4.0])).path, "r+") as file:
        for column in file["sweep/rows"]:
            file[f"sweep/worst/{column}"] = file[f"sweep/rows/{column}"][:2]
        file["sweep/worst/workload"][:] = "worst of all workloads"
        file["sweep/worst/error"][:] = [0.02, 0.3]
        path = file.filename
    return Result(path)


def the_worst_of_all_workloads_has_a_panel_with_the_bounds():
    figure = front(worst_file("w"), wanted(metric="bits", standing=["111130:error,bits:5:error<10,bits<=6"]))
    assert titles_of(figure)[0] == ["lu, core-L1", "radix, core-L1", "worst of all workloads, core-L1"], titles_of(figure)
    worst = figure.axes[2]
    assert np.allclose(line_named(worst, "front").get_xdata(), [2]) and circled(worst) == [2], "digits of the worst are behind those of the cells"
    for axes in figure.axes[:3]:
        bounds = [each for each in axes.lines if each.get_gid() == "bound"]
        assert [each.get_xdata()[0] for each in bounds if each.get_xdata()[0] == each.get_xdata()[1]] == [10], "the error of the bounds"
        assert [each.get_ydata()[0] for each in bounds if each.get_ydata()[0] == each.get_ydata()[1]] == [6], "and bits"
    legend = [text.get_text() for text, _ in legends_of(figure)]
    assert legend.count("bounds") == 1 and "pale: beyond the bounds" in legend, legend
    chosen = front(worst_file("w"), wanted(metric="bits", workload=["worst of all workloads"]))
    assert not titles_of(chosen)[0][0] and len(chosen.axes) == 1, "chosen alone"


def slowdowns_that_are_all_0_have_the_axis_of_the_page():
    cells = fronts_file("z", ["lu"], ["core-L1"], [0.0, 0.0], slowdown=np.zeros(2))
    axes = front(cells, wanted(metric="slowdown")).axes[0]
    assert axes.get_ylim()[0] == 0 and 100 < axes.get_ylim()[1] < 110 and axes.get_xlim()[1] > 100, (axes.get_ylim(), axes.get_xlim())


def beside_trackers_the_front_is_of_what_both_have():
    cells = fronts_file("a", ["lu n=8"], ["core-L1"], [0.0, 0.1], slowdown=np.array([0.1, 0.2]), bits=np.array([9.0, 5.0]))
    trackers = trackers_file("t", [0.05, 0.2], [0.5, 0.4])
    axes = front(cells, wanted(more=[trackers.path], standing=[":error,slowdown,bits:5", ""])).axes[0]
    assert axes.get_ylabel() == "bits", axes.get_ylabel()
    assert [each.get_label() for each in axes.lines if each.get_marker() == "D"] == ["trackers"], "one mark of all"


def lines_from_names_do_not_cross():
    """Of rings in a column, whose names must stand apart: two lines meet where both of their parameters are in them."""
    count = 10
    errors, others = np.tile([0.0, 0.004], count // 2), np.linspace(100, 130, count)
    cells = fronts_file("l", ["lu"], ["core-L1"], np.append(errors, 0.4), remains=np.append(np.ones(count, np.uint8), 0).astype(np.uint8), bits=np.append(others, 500.0))
    axes = front(cells, wanted(metric="bits")).axes[0]
    ends = [axes.transData.transform(each.get_xydata()) for each in axes.lines if each.get_gid() == "leader"]
    assert len(ends) >= 2, len(ends)
    for (a, b), (c, d) in itertools.combinations(ends, 2):
        where = np.column_stack([b - a, c - d])
        if abs(np.linalg.det(where)) > 1e-9:
            at = np.linalg.solve(where, c - a)
            assert not ((at > 1e-6) & (at < 1 - 1e-6)).all(), (a, b, c, d)
    # nor does one strike through a name: places along it, but for its end, where its own begins
    names = [each.get_window_extent() for each in axes.texts if each.get_text()]
    for a, b in ends:
        for x, y in a + np.linspace(0, 0.99, 400)[:, None] * (b - a):
            assert not any(box.x0 < x < box.x1 and box.y0 < y < box.y1 for box in names), (a, b)


def names_stand_clear_of_all_points():
    """Those of a dense front are left out rather than laid on others."""
    errors = np.linspace(0, 0.02, 12)
    axes = front(fronts_file("d", ["lu"], ["core-L1"], errors, remains=np.ones(12, np.uint8)), wanted()).axes[0]
    named = [each for each in axes.texts if each.get_text()]
    assert named
    points = np.concatenate([each.get_transform().transform(each.get_xydata()) for each in axes.lines if each.get_label().startswith("C = ")])
    for each in named:
        box = each.get_window_extent()
        inside = (points[:, 0] > box.x0) & (points[:, 0] < box.x1) & (points[:, 1] > box.y0) & (points[:, 1] < box.y1)
        assert not inside.any(), each.get_text()
    assert not any(each.arrow_patch for each in named), "no leaders"
