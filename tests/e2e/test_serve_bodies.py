"""unitrace serve: bodies of requests are checked against the description before anything uses them."""
# ci: labels slow
import copy
import json

import common
from serve_support import API, DESCRIPTION, Server

SCHEMAS = DESCRIPTION["components"]["schemas"]
# What src/app/site/body_schema.c understands. Another keyword would be documented, and not be checked.
KEYWORDS = {"$ref", "allOf", "type", "enum", "minLength", "maxLength", "minimum", "maximum", "maxItems", "items",
            "maxProperties", "required", "properties", "additionalProperties", "description"}
VALUES = {"string": "x", "number": 1.5, "boolean": True, "array": [], "object": {}}
NAMES = {"string": "a string", "number": "a number", "integer": "a whole number", "boolean": "true or false",
         "array": "a list", "object": "an object", "null": "null"}


def followed(schema):
    """Without references, and with the parts of allOf put together."""
    if "$ref" in schema:
        return followed(SCHEMAS[schema["$ref"].rsplit("/", 1)[1]])
    whole = {k: v for k, v in schema.items() if k != "allOf"}
    for part in map(followed, schema.get("allOf", ())):
        whole["type"] = part["type"]
        whole["properties"] = {**whole.get("properties", {}), **part.get("properties", {})}
        whole["required"] = [*whole.get("required", ()), *part.get("required", ())]
    return whole


def types(schema):
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def sample(schema):
    """Something that fits."""
    schema = followed(schema)
    if "enum" in schema:
        return schema["enum"][0]
    kind = types(schema)[0]
    if kind == "object":
        return {k: sample(schema["properties"][k]) for k in schema.get("required", ())}
    if kind == "integer":
        return max(1, schema.get("minimum", 1))
    return "x" * schema.get("minLength", 1) if kind == "string" else VALUES[kind]


def unfit(schema):
    """Values that do not fit, each with what the answer says about it."""
    kinds = types(schema)
    expected = " or ".join(NAMES[k] for k in kinds)
    for kind, value in VALUES.items():
        if kind in kinds:
            continue
        got = "a fraction" if kind == "number" and "integer" in kinds else NAMES[kind]
        yield value, f"expected {expected}, got {got}"
    if "string" in kinds and "enum" not in schema:
        yield "a\0b", "expected a string, got one with a NUL in it"
    if "enum" in schema:
        yield "x", "expected one of"
    if "maxLength" in schema:
        yield "ä" * (schema["maxLength"] + 1), f"expected at most {schema['maxLength']} characters"
    if "minLength" in schema:
        yield "x" * (schema["minLength"] - 1), f"expected at least {schema['minLength']} characters"
    if "minimum" in schema:
        yield schema["minimum"] - 1, f"expected at least {schema['minimum']}"
    if "maximum" in schema:
        yield schema["maximum"] + 1, f"expected at most {schema['maximum']}"
    if "maxItems" in schema:
        yield [sample(schema["items"])] * (schema["maxItems"] + 1), f"expected at most {schema['maxItems']} values"
    if "maxProperties" in schema:
        yield {f"k{i}": "" for i in range(schema["maxProperties"] + 1)}, "expected at most"


def faults(schema, where=""):
    """Bodies with one fault each: the body, the field's name, what is said about it."""
    schema = followed(schema)
    for value, why in unfit(schema):
        yield value, where, why
    base = sample(schema) if "object" in types(schema) else None
    for key, one in schema.get("properties", {}).items():
        for value, name, why in faults(one, f"{where}.{key}" if where else key):
            yield {**base, key: value}, name, why
    if isinstance(schema.get("additionalProperties"), dict):
        for value, name, why in faults(schema["additionalProperties"], f"{where}.any"):
            yield {**base, "any": value}, name, why
    if "items" in schema:
        for value, name, why in faults(schema["items"], f"{where}[1]"):
            yield [sample(schema["items"]), value], name, why
        yield [None], f"{where}[0]", "got null"
    for key in schema.get("required", ()):
        name = f"{where}.{key}" if where else key
        without = copy.deepcopy(base)
        del without[key]
        yield without, name, "is missing"
        yield {**base, key: None}, name, "is missing"


def requests():
    """Method, path and schema of everything that takes JSON, but for what goes to viewers."""
    for path, operations in DESCRIPTION["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content and not path.endswith("{method}"):
                yield method.upper(), path, content["schema"]


class Bodies(Server):
    def test_every_field_is_refused_with_every_wrong_type(self):
        self.start("--enable-server-profiling")
        self.call("POST", "/projects", {"name": "project"})
        before = sorted(str(p) for p in self.data.rglob("*"))
        count = 0
        for method, path, schema in requests():
            for body, name, why in faults(schema):
                with self.subTest(method=method, path=path, field=name, why=why):
                    text = json.dumps(body).encode()
                    self.assertLess(len(text), 1 << 20)
                    got = self.call(method, path.removeprefix(API), body)
                    self.assertEqual(got.status, 400, got.body)
                    self.assertTrue(got.error.startswith(f'"{name}' if name else "the body: "), got.error)
                    self.assertIn(why, got.error)
                    self.assertNotIn("\n", got.error)
                count += 1
        self.assertGreater(count, 500)
        self.assertIsNone(self.server.poll())
        self.assertEqual(sorted(str(p) for p in self.data.rglob("*")), before)

    def test_what_fits_gets_past_the_check(self):
        self.start()
        self.assertEqual(self.call("POST", "/projects", {"name": "p", "unknown": [{"deep": 1}]}).status, 204)
        self.assertEqual(self.call("PATCH", "/projects/p", {"name": "q", "project": None}).status, 204)
        got = self.call("PATCH", "/projects/q")
        self.assertEqual((got.status, got.error), (400, "the body is missing: expected JSON"))
        for method, path, schema in requests():
            got = self.call(method, path.removeprefix(API), sample(schema))
            self.assertNotIn("expected", got.body.decode(), path)

    def test_the_message_is_as_documented(self):
        self.start()
        for field in ("arguments", "launcherWords"):
            for value, kind in ((1, "a number"), ({}, "an object"), (None, "null"), (["x"], "a list")):
                got = self.call("POST", "/command", {"application": "x", field: [value]})
                self.assertEqual((got.status, got.error), (400, f'"{field}[0]": expected a string, got {kind}'))
        got = self.call("POST", "/command", {"environment": [{"name": "A", "value": "1"}, {"name": "B", "value": 2}]})
        self.assertEqual(got.error, '"environment[1].value": expected a string, got a number')
        # of two members of one name both are looked at, and names may be anything
        headers = {"X-Unitrace": "1", "Cookie": self.cookie, "Content-Type": "application/json"}
        for body in (b'{"arguments":[1],"arguments":["x"]}', b'{"arguments":["x"],"arguments":[1]}'):
            got = self.send("POST", f"{API}/command", body, headers)
            self.assertEqual(got.error, '"arguments[0]": expected a string, got a number')
        for name in ("\n", "\x00", "ä" * 200, "%s%n", '"'):
            got = self.call("POST", "/command", {"options": {name: []}})
            self.assertEqual(got.status, 400)
            self.assertIn("expected a string or a number or true or false, got a list", got.error)

    def test_none_of_several_passwords_is_written_down(self):
        self.start("--enable-server-profiling")
        self.call("POST", "/projects", {"name": "p"})
        body = b'{"application":"true","analysis":"itt","password":"hidden-1","password":"hidden-2"}'
        got = self.send("POST", f"{API}/projects/p/runs", body,
                        {"X-Unitrace": "1", "Cookie": self.cookie, "Content-Type": "application/json"})
        self.assertEqual(got.status, 200, got.body)
        asked = (self.data / "p" / got.json["result"] / "result.json").read_text()
        self.assertIn('"application"', asked)
        self.assertNotIn("hidden", asked)

    def test_only_what_is_checked_is_described(self):
        def walk(schema, where):
            self.assertLessEqual(set(schema), KEYWORDS, where)
            if "$ref" not in schema and "allOf" not in schema:
                self.assertIn("type", schema, where)
            if "string" in types(schema) and "enum" not in schema:
                self.assertIn("maxLength", schema, where)
            schema = followed(schema)
            for key, one in schema.get("properties", {}).items():
                if one.get("$ref") != "#/components/schemas/FoundDevices":  # of answers, not to be sent
                    walk(one, f"{where}.{key}")
            if "items" in schema:
                self.assertIn("maxItems", schema, where)
                walk(schema["items"], f"{where}[]")
            if isinstance(schema.get("additionalProperties"), dict):
                walk(schema["additionalProperties"], f"{where}.*")
        for method, path, schema in requests():
            walk(schema, f"{method} {path}")


if __name__ == "__main__":
    common.main()
