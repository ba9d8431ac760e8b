import pytest

from fairtrial.analysis.plateau import LoopRound, PlateauRules, plateau, progress
from fairtrial.model.decision import Outcome
from fairtrial.model.errors import ExitCode
from fairtrial.stats.edetector.detector import e_detector
from fairtrial.stats.errors import ArgumentError


def _rounds(*scores: float) -> list[LoopRound]:
    return [LoopRound(score) for score in scores]


def test_greedy_gains_are_what_was_kept() -> None:
    rounds = [
        LoopRound(0.5),
        LoopRound(0.6),
        LoopRound(0.4),
        LoopRound(0.7, accepted=False),
        LoopRound(0.55, accepted=True),
        LoopRound(0.65),
    ]
    found = progress(rounds, PlateauRules())
    assert found.gains == pytest.approx((0.1, 0.0, 0.0, 0.0, 0.1))
    assert found.bounds == pytest.approx((0.5, 0.4, 0.4, 0.4, 0.45))
    assert found.best == 5


def test_chain_gains_are_steps_and_the_earliest_best_ships() -> None:
    found = progress(_rounds(0.5, 0.7, 0.6, 0.7), PlateauRules(mode="chain", max_gain=0.4))
    assert found.gains == pytest.approx((0.2, -0.1, 0.1))
    assert found.bounds == pytest.approx((0.4, 0.3, 0.4))
    assert found.best == 1


def test_a_chain_goes_on_without_what_somebody_rejected() -> None:
    rounds = [LoopRound(0.5), LoopRound(0.9, accepted=False), LoopRound(0.6)]
    found = progress(rounds, PlateauRules(mode="chain"))
    assert found.gains == pytest.approx((0.0, 0.1))
    assert found.bounds == pytest.approx((0.5, 0.5))
    assert found.best == 2


def test_a_dead_loop_stops_and_says_what_to_ship() -> None:
    rules = PlateauRules(eps=0.05)
    decision = plateau(_rounds(0.4, 0.5, *[0.5] * 12), rules)
    assert decision.outcome is Outcome.STOP
    assert decision.exit_code is ExitCode.STOP
    assert decision.evidence["ship_round"] == 1
    expected = e_detector([0.1, *[0.0] * 12], eps=0.05, upper=[0.6, *[0.5] * 12])
    assert decision.evidence["evidence"] == pytest.approx(list(expected.evidence))
    assert decision.evidence["stop_round"] == expected.stop_round
    assert "held-out" in decision.advice[0]


def test_a_productive_loop_goes_on_and_says_when_it_could_stop() -> None:
    rules = PlateauRules(eps=0.05)
    decision = plateau(_rounds(0.1, 0.2, 0.3, 0.4), rules)
    assert decision.outcome is Outcome.CONTINUE
    assert decision.exit_code is ExitCode.OK
    earliest = decision.evidence["earliest_possible_stop"]
    stopped = plateau(_rounds(0.1, 0.2, 0.3, 0.4, *[0.4] * (earliest - 3)), rules)
    assert stopped.outcome is Outcome.STOP
    before = plateau(_rounds(0.1, 0.2, 0.3, 0.4, *[0.4] * (earliest - 4)), rules)
    assert before.outcome is Outcome.CONTINUE


@pytest.mark.parametrize("scores", [(0.5,), (0.5, 0.6)])
def test_fewer_than_two_gains_are_too_few(scores: tuple[float, ...]) -> None:
    decision = plateau(_rounds(*scores))
    assert decision.outcome is Outcome.TOO_FEW
    assert int(decision.exit_code) == 2


@pytest.mark.parametrize("mode", ["greedy", "chain"])
def test_at_the_ceiling_it_stops(mode: str) -> None:
    rules = PlateauRules(eps=0.05, mode=mode)  # type: ignore[arg-type]
    decision = plateau(_rounds(0.5, 0.8, 0.97), rules)
    assert decision.outcome is Outcome.STOP
    assert "ceiling" in decision.reasons[0]


def test_rounds_without_room_are_left_out_of_the_evidence() -> None:
    rules = PlateauRules(eps=0.05, mode="chain")
    decision = plateau(_rounds(0.5, 0.97, 0.6, 0.6), rules)
    assert len(decision.evidence["gains"]) == 3
    assert len(decision.evidence["evidence"]) == 2


def test_a_loop_without_any_usable_round_goes_on() -> None:
    rules = PlateauRules(eps=0.05, mode="chain")
    decision = plateau(_rounds(0.97, 0.96, 0.5), rules)
    assert decision.outcome is Outcome.CONTINUE
    assert decision.evidence["earliest_possible_stop"] is None


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: plateau([]), "rounds"),
        (lambda: plateau(_rounds(0.5, 1.5)), "score"),
        (lambda: PlateauRules(mode="random"), "mode"),  # type: ignore[arg-type]
        (lambda: PlateauRules(delta=0.0), "delta"),
        (lambda: PlateauRules(max_gain=0.0), "max_gain"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()
