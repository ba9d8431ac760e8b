"""`exp power`: the size of a comparison, before it runs."""

from __future__ import annotations

from fairtrial.analysis.planned_size import (
    USUAL_CASES,
    USUAL_TRIALS,
    Question,
    cases_for,
    effect_of,
    effects,
    power_of,
)
from fairtrial.app.bench import Bench
from fairtrial.app.noise import given_noise, guessed_noise, noise_in
from fairtrial.app.picturing import checked_plot, pictured
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.power import Noise, PowerReport
from fairtrial.app.requests.exp_power import Request
from fairtrial.model.errors import UsageError


def exp_power(bench: Bench, request: Request) -> PowerReport | AccompaniedReport:
    """Return what a comparison needs, or what it can see, and draw it if that is asked.

    Raises:
        UsageError: two sources of the noise, an experiment that shows none, or the picture cannot
            be written.
        NotFoundError: the experiment does not exist.
    """
    path = checked_plot(bench, request.picture.plot)
    report = planned(bench, request)
    if path is None:
        return report
    from fairtrial.app.plots.power import power_picture  # noqa: PLC0415  # rarely asked

    return pictured(report, power_picture(report), path)


def planned(bench: Bench, request: Request) -> PowerReport:
    """Return what a comparison needs, or what it can see.

    Raises:
        UsageError: two sources of the noise, or an experiment that shows none.
        NotFoundError: the experiment does not exist.
    """
    if request.flip_rate is not None and request.from_ is not None:
        raise UsageError("the noise is given twice", fix="leave out --flip-rate or --from")
    noise = _noise(bench, request)
    asked = Question(noise.flip_rate, request.alpha, request.power, spread=not noise.at_most)
    cases, effect, trials = request.cases, request.effect, request.trials
    needed = concentrated = reached = None
    if effect is not None:
        needed = cases_for(effect, trials, asked)
        concentrated = cases_for(effect, trials, asked, spread=False)
    if effect is not None and cases is not None:
        reached = power_of(effect, cases, trials, asked)
    chosen = cases if cases is not None else needed
    rows = sorted({*USUAL_CASES, *([] if chosen is None else [chosen])})
    columns = sorted({*USUAL_TRIALS, trials})
    return PowerReport(
        noise=noise,
        asked=asked,
        trials=trials,
        cases=cases,
        effect=effect,
        cases_needed=needed,
        cases_needed_if_concentrated=concentrated,
        power_reached=reached,
        smallest_effect=None if cases is None else effect_of(cases, trials, asked),
        smallest_effect_if_concentrated=(
            None if cases is None else effect_of(cases, trials, asked, spread=False)
        ),
        chosen=chosen,
        table=effects(rows, columns, asked),
    )


def _noise(bench: Bench, request: Request) -> Noise:
    if request.from_ is not None:
        return noise_in(bench, request.from_)
    return guessed_noise() if request.flip_rate is None else given_noise(request.flip_rate)
