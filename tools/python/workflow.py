"""Runs an Arazzo workflow with arazzo-runner, and tells the success of each step."""

import requests
from arazzo_runner import ArazzoRunner
from given import give, given

steps = []
runner = ArazzoRunner.from_arazzo_path(given["document"], http_client=requests.Session())
runner.register_callback("step_complete", lambda step_id, success, **_: steps.append([step_id, success]))
runner.execute_workflow(given["workflow"], {"key": given["key"]})
give(steps)
