import json, re, sys


def accepts(pattern, texts):
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        return str(error)
    return [compiled.search(text) is not None for text in texts]


json.dump([accepts(case["pattern"], case["texts"]) for case in json.load(sys.stdin)], sys.stdout)
