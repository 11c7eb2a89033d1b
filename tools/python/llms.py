"""Parses llms.txt, and builds the context of all pages that it links."""

import httpx
from given import give, given
from llms_txt import create_ctx, parse_llms_file

text = httpx.get(f"{given['origin']}/llms.txt").text
parsed = parse_llms_file(text)
give({
    "title": parsed.title,
    "summary": parsed.summary,
    "links": [dict(link) for links in parsed.sections.values() for link in links],
    "context": create_ctx(text, optional=True, n_workers=4),
})
