"""Reads responses with the models that datamodel-code-generator made, and writes them again."""

import sys
from importlib import import_module

import requests
from given import give, given

sys.path.insert(0, given["folder"])
models = import_module("models")


def read(name, path):
    text = requests.get(given["baseUrl"] + path, headers=given["headers"], timeout=20).text
    model = getattr(models, name).model_validate_json(text)
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


give({path: read(name, path) for path, name in given["models"].items()})
