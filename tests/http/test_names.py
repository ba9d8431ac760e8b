"""Names in paths and queries, and what a key of one project makes of them."""

from __future__ import annotations

import gzip
from urllib.parse import quote

import pytest
from tests.http.api import GRADER, Api, row
from tests.http.conftest import Server


@pytest.fixture
def api(server: Server) -> Api:
    """The API of a server."""
    return Api(server)


def test_names_with_slashes_are_reached(api: Api) -> None:
    found = api.opened(name="org/faq")
    name = "django/1?#%2F é"
    path = f"/v2/experiments/{quote('org/faq', safe='')}/rows"
    api.done(path, {"rows": [row(name), row("django")]})
    api.done(f"/v2/experiments/{found}/finish")
    assert api.ask(f"{path}/{quote(name, safe='')}")["cases"][0]["id"] == name
    cases = api.ask(f"/v2/datasets/{quote('org/faq', safe='')}/cases")["cases"]
    assert [case["id"] for case in cases] == ["django", name]
    assert api.send("GET", f"{path}/django%2F1").status == 404
    assert api.send("GET", f"/v2/experiments/{found}%2F/").status in (307, 404)


def test_a_key_of_a_project_is_held_against_the_name_that_is_read(api: Api, server: Server) -> None:
    project = api.done("/v2/projects", {"name": "shop"})["id"]
    told = {"name": "100A", "graders": [GRADER]}
    api.done(f"/v2/projects/{project}/experiments", told)
    api.done(f"/v2/projects/{project}/experiments", {**told, "name": "faq"})
    api.opened(name="100%41")
    api.opened(name="faq/2")
    token = api.done("/v2/keys", {"name": "ci", "project": "shop"})["token"]
    ours = {"authorization": f"Bearer {token}"}
    assert server.ask("/v2/experiments/100A", headers=ours).status == 200
    assert server.ask("/v2/experiments/100%2541", headers=ours).status == 403
    assert server.ask("/v2/experiments/faq%2F2", headers=ours).status == 403


def test_a_parameter_is_given_once(api: Api) -> None:
    answer = api.send("GET", "/v2/experiments?limit=1&limit=2")
    assert (answer.status, answer.json["what"]) == (400, "'limit' is there more than once")


def test_what_a_project_is_compared_with_is_of_it(api: Api) -> None:
    other = api.opened(name="secret")
    api.done(f"/v2/experiments/{other}/rows", {"rows": [row("a")]})
    api.done(f"/v2/experiments/{other}/finish")
    path = f"/v2/projects/{api.done('/v2/projects', {'name': 'shop'})['id']}"
    told = {"name": "mine", "graders": [GRADER]}
    for answer in (
        api.send("POST", f"{path}/experiments", {**told, "baseline": "secret"}),
        api.send("PUT", f"{path}/baseline", {"experiment": other}),
    ):
        assert (answer.status, answer.json["what"]) == (400, "the experiment is of another project")
    assert api.send("POST", "/v2/experiments", {**told, "baseline": "secret"}).status == 201


@pytest.mark.parametrize("name", ["shop\n", "here", "prj_01M8MTWQ0VHDTHS72Z6CG5PXA7", "..", "a/b"])
def test_a_project_has_a_name_of_its_own(api: Api, name: str) -> None:
    assert api.send("POST", "/v2/projects", {"name": name}).status == 400


def test_a_newline_is_no_part_of_a_commit(api: Api) -> None:
    told = {"name": "x", "graders": [GRADER]}
    for further in ({"git": {"commit": "abcdef1\n"}}, {"pull_request": "12\n"}):
        assert api.send("POST", "/v2/experiments", {**told, **further}).status == 400
    assert api.send("POST", "/v2/projects", {"name": "hereafter"}).status == 201


def test_a_compressed_body_is_told_to_be_one(server: Server) -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = server.ask("/v2/experiments", "POST", gzip.compress(b"{}"), headers)
    assert (answer.status, answer.json["where"]) == (400, "Content-Encoding: gzip")
