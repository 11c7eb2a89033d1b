"""Calls the service by the MCP server that FastMCP makes from a description."""

import asyncio

import httpx2
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from given import give, given


async def main():
    headers = {"authorization": f"Bearer {given['key']}"}
    async with httpx2.AsyncClient(base_url=given["baseUrl"], headers=headers) as sender:
        server = FastMCP.from_openapi(openapi_spec=given["description"], client=sender)
        async with Client(server) as client:
            tools = [tool.name for tool in await client.list_tools()]
            pet = await client.call_tool("createPet", {"name": "Ada", "categoryId": 1})
            pets = await client.call_tool("listPets", {"id": [1, pet.structured_content["id"]]})
            try:
                await client.call_tool("getOrder", {"orderId": 9999})
            except ToolError as error:
                refusal = str(error)
    return {
        "tools": tools,
        "names": [pet["name"] for pet in pets.structured_content["result"]],
        "refusal": refusal,
    }


give(asyncio.run(main()))
