from fairtrial.stats.interval import Interval, PValue


def test_interval_knows_its_width_and_what_it_excludes() -> None:
    interval = Interval("wilson", 0.9, -0.25, 0.5)
    assert interval.width == 0.75
    assert not interval.excludes(0.0)
    assert not interval.excludes(-0.25)
    assert interval.excludes(0.51)
    assert interval.excludes(-0.26)


def test_clipping_keeps_method_and_level() -> None:
    assert Interval("t", 0.9, -7.0, 7.0).clipped(-1.0, 1.0) == Interval("t", 0.9, -1.0, 1.0)
    assert Interval("t", 0.9, 2.0, 7.0).clipped(-1.0, 1.0) == Interval("t", 0.9, 1.0, 1.0)


def test_words() -> None:
    text = Interval("wilson", 0.95, 0.1, 0.25).describe()
    assert text == "between 0.1 and 0.25 (95 % confidence, wilson)"
    assert "0.031 of the time" in PValue("mid-p", 0.0312).describe()
    assert "would come up every time (p," in PValue("mid-p", 1.0).describe()
