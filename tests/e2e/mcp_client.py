"""For test_mcp.py: the client package of the Model Context Protocol asks the server everything."""
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(program, folder):
    server = StdioServerParameters(command=program, args=["mcp", folder])
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await session.send_ping()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert tools == {"list", "open", "overview", "stats", "slow", "schema", "query", "diff",
                             "picture"}, tools
            answers = {}
            for name, arguments in (("list", {}), ("open", {"paths": ["t.json"]}), ("overview", {}),
                                    ("stats", {"by": "name"}), ("slow", {}), ("schema", {"table": "slice"}),
                                    ("query", {"sql": "select count(*) as n from slice"}),
                                    ("diff", {"before": "t1", "after": "t1"}),
                                    ("picture", {"from": "0", "to": "1ms"})):
                answer = await session.call_tool(name, arguments)
                text = answer.content[0].text
                failed = getattr(answer, "isError", None) or getattr(answer, "is_error", None)
                assert not failed or "cairo" in text, (name, text)
                assert failed or "How this was computed" in text, (name, text)
                answers[name] = answer
            assert answers["query"].content[0].text.startswith("n\n400\n"), answers["query"]
            if len(answers["picture"].content) > 1:
                assert answers["picture"].content[1].type == "image"
            wrong = await session.call_tool("open", {"paths": ["/etc/passwd"]})
            assert getattr(wrong, "isError", None) or getattr(wrong, "is_error", None), wrong
    print("ok")


asyncio.run(main(sys.argv[1], sys.argv[2]))
