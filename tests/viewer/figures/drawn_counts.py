# SPDX-License-Identifier: BSD-3-Clause
# Counts over addresses beside what the file has: after drawn.py.


def structures_lie_from_their_first_to_their_last_byte():
    """Over what is between; of two stretches of 8 lines the gap is 13 bytes: 1.2 % of 1024, rounded up."""
    address = np.concatenate([0x10000 + 64 * np.arange(8), 0x900000 + 64 * np.arange(8)])
    file = with_structures(lines_file("places", address, [0] * 16, [1] * 16), ["all", "one", "none", "before"],
                           [0x10020, 0x900040, 0x500000, 0xFF00], [0x8F0000, 64, 64, 16])
    counts = Counts(core("histogram", file, wanted()))
    assert counts.length == 1024 + 13
    assert counts.places[:2] == [(32, 525 + 32), (525 + 64, 525 + 128)], counts.places
    assert np.isnan(counts.places[2:]).all()


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


def addresses_stand_under_the_last_level_alone():
    file = lines_file("levels", 0x10000 + 64 * np.arange(8), [0] * 8, [1] * 8)
    file.file.close()
    with h5py.File(file.path, "r+") as h5:
        h5.copy("combined/L1", "combined/L2")
        h5["combined"].attrs["names"] = ["L1", "L2"]
    panels = histogram(Result(file.path), wanted()).axes
    assert [sum(each.get_text().startswith("0x") for each in axes.texts) for axes in panels] == [0, 4], "by hand: 512 bytes, 128 apart"


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


def causes_of_lines_are_those_of_the_file():
    random = np.random.default_rng(7)
    address, phase = np.tile(0x10000 + 64 * np.arange(30), 2), np.repeat([0, 1], 30)
    counts = {cause: random.integers(0, 9, 60).astype(float) for cause in CAUSES}
    file = lines_file("caused", address, phase, np.full(60, 50), sum(counts.values()))
    file.file.close()
    with h5py.File(file.path, "r+") as h5:
        for cause, count in counts.items():
            h5[f"combined/L1/{cause}"] = count
    for cause, count in counts.items():
        with h5py.File(core("histogram", Result(file.path), wanted(what=cause))) as data:
            most = data["picture0/most"][:].reshape(30, 30)  # of columns: 30 for each line
            assert (most.T == count[:30] + count[30:]).all(), cause
        figure = heat(Result(file.path), wanted(what=cause))
        assert any(f"{cause.replace('_', ' ')}\nmisses per line and phase" in each for each in texts_of(figure)), texts_of(figure)
    without = lines_file("uncaused", address, phase, np.full(60, 50))
    assert "no level has causes of misses by line (made with --causes)" in refusal(histogram, without, wanted(what="conflict"))
    assert "causes of misses of L1 are not known by line: the file was made without --causes" in refusal(heat, without, wanted(what="conflict", level="L1"))


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
    """By line and column: which part of the line is in the column, of 512 over all lines."""
    i, column = np.arange(lines)[:, None], np.arange(512)[None, :]
    return np.maximum(0, np.minimum((i + 1) * 512, (column + 1) * lines) - np.maximum(i * 512, column * lines)) / 512


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
    for text, numbers in (("1", "1"), ("0-1", "0,1"), ("phase 0", "0"), (last, "2"), ("2,phase 0", "2,0")):
        assert core("numbers", named, wanted(phases=[text])) == numbers, text
    for text, why in (("solve", "known are: phase 0, "), ("3", "no phase 3; there are 3 phases, numbered from 0"), ("1-x", "no phase '1-x'"), ("-1", "no phase '-1'"), ("1,", "no phase ''")):
        assert why in refusal(core, "numbers", named, wanted(phases=[text])), text
    named.file.close()
    with h5py.File(file.path, "r+") as h5:
        del h5["phases/name"].attrs["description"]
    assert Result(file.path).phase_names()[0] == ""


def heat_cells_are_means_per_line_and_phase():
    random = np.random.default_rng(7)
    for phases, lines in ((3, 512), (257, 1200), (1000, 40), (10000, 300), (1, 17)):
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
            dense, used = np.zeros((2, phases, lines))
            np.add.at(dense, (phase, line), count)
            np.add.at(used, (phase, line), accesses)
            dense, used = (np.array([each[a:b].sum(axis=0) for a, b in zip(first, first[1:])]) @ share_of(lines) for each in (dense, used))
            ever = np.isin(np.arange(lines), line)
            with np.errstate(invalid="ignore", divide="ignore"):
                has = np.where(used > 0, dense / np.outer(np.diff(first), ever @ share_of(lines)), np.nan)
            for options in ({}, {"linear": True}, {"log": True}):
                figure = heat(result, wanted(what=what, **options))
                assert list(figure.axes[0].images[0].get_extent()) == [0, 64 * lines, rows - 0.5, -0.5]
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
    # a structure of 8 lines, a hole, 8 more; in phase 1 the first eight have no misses, in phase 2 no accesses; the least is 60 of 64
    address = 0x10000 + 64 * np.arange(8)
    far = 0x900000 + 64 * np.arange(8)
    for low, log in ((60, False), (60, True), (0.5, True), (1, False)):
        misses = [low] * 8 + [64] * 8 + [0] * 8 + [64] * 16
        result = lines_file("apart", np.concatenate([address, far, address, far, far]), [0] * 16 + [1] * 16 + [2] * 8, [64] * 40, misses)
        figure = heat(result, wanted(what="misses", log=log, linear=not log))
        second = 512 + 13  # the gap is 1.2 % of 1024 bytes
        paper = colour_at(figure, 512 + 9.5, 0)  # beside the mark of the hole
        none, least, most = colour_at(figure, 250, 1), colour_at(figure, 250, 0), colour_at(figure, second + 250, 0)
        assert len({paper, none, least, most}) == 4, (paper, none, least, most)
        assert colour_at(figure, 250, 2) == paper, "what is not accessed is not drawn"
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
        assert any(each.startswith("misses per line and phase") for each in shown) and "0" in shown, shown
        plt.close(figure)


def the_axis_is_of_all_levels():
    """As on the page: what L1 alone has keeps its place in figures of L2, too."""
    result = lines_file("levels", [0x10000, 0x10040, 0x90000], [0, 0, 0], [1, 1, 1])
    result.file.close()
    with h5py.File(result.path, "r+") as file:
        second = file.copy("combined/L1", "combined/L2") or file["combined/L2"]
        for name in ("address", "phase", "accesses", "misses"):
            values = second[name][:1]
            del second[name]
            second[name] = values
        file["combined"].attrs["names"] = ["L1", "L2"]
    for kind in ("histogram", "heat"):
        sizes = {level: int(h5py.File(core(kind, Result(result.path), wanted(level=level)), "r")["axis"].attrs["bytes"]) for level in ("L1", "L2")}
        assert sizes["L2"] == sizes["L1"] and sizes["L1"] > 128, sizes


def outliers_are_cut_and_marked():
    """200 lines of 10 and one of 1000: by hand 10 is what all but a hundredth reach, and 1000 more than four times that."""
    result = lines_file("outlier", 0x10000 + 64 * np.arange(512), [0] * 512, [10] * 511 + [1000])
    figure = heat(result, wanted())
    cells = cells_of(figure)
    assert (cells[0, 511, :3] == rgb(DRAWING["light"]["marker"])).all() and (cells[0, :511, :3] == rgb(DRAWING["light"]["ramp"][-1])).all()
    assert "1 cell up to 1k" in texts_of(figure), texts_of(figure)
    figure = histogram(result, wanted())
    assert "1 line up to 1k" in texts_of(figure) and abs(figure.axes[0].get_ylim()[1] - 10 / 0.94) < 1e-9
    (marks,) = [each.get_xdata() for each in figure.axes[0].lines if each.get_label() == "above"]
    assert [int(each // 64) for each in marks] == [511, 511], marks  # of 900 columns two begin in the last line
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
