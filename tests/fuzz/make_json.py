#!/usr/bin/env python3
"""Write the seeds of fuzz_chrome and fuzz_json into corpus/: small traces of every shape and
dialect, whole and broken. Inputs that once failed are kept beside them."""
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))
import trace_gen  # noqa: E402

AT = '"pid":1,"tid":2,"ts":1'
CHROME = {
    "array": f'[{{"ph":"X","name":"a",{AT},"dur":2,"args":{{"a":[1,2],"b":{{"c":null}}}}}}]',
    "object": f'{{"displayTimeUnit":"ms","traceEvents":[{{"ph":"B","name":"a",{AT}}},'
              f'{{"ph":"E",{AT}}}],"otherData":{{"a":1}}}}',
    "lines": f'{{"ph":"i","s":"g","name":"a",{AT}}}\n{{"ph":"R",{AT}}}\n',
    "ids": ",".join([f'[{{"ph":"s","id":5,"cat":"a",{AT}}}', f'{{"ph":"t","id":"0x5",{AT}}}',
                     f'{{"ph":"f","bp":"e","id":"x",{AT}}}',
                     f'{{"ph":"b","id2":{{"local":"0x1"}},"scope":"s",{AT}}}',
                     f'{{"ph":"e","id2":{{"global":1}},{AT}}}', f'{{"ph":"N","id":-1,{AT}}}',
                     f'{{"ph":"X","dur":1,"bind_id":"q","flow_in":true,"flow_out":true,{AT}}}]']),
    "quoted": f'[{{"ph":"X","name":"4711",{AT},"dur":"2","args":{{"a":"0","b":"4711","c":"007",'
              '"d":"0x1f","e":["1","0x2",3],"f":"18446744073709551616","g":1e400}}]',
    "unused": f'[{{"ph":"X","id":7,"s":"t","bp":"e","scope":"q","bind_id":3,"id2":{{"local":1}},{AT},'
              f'"dur":1}},{{"ph":"i","dur":5,"id":[1],{AT}}},{{"ph":"long","id":"x",{AT}}}]',
    "no_id": f'[{{"ph":"s",{AT}}},{{"ph":"b","id2":5,{AT}}},{{"ph":"O","scope":"s",{AT}}},'
             f'{{"ph":"C","id":1,{AT},"args":{{"a":"b"}}}},{{"ph":"f","bp":"e",{AT}}}]',
    "twice": f'[{{"ph":"X","args":{{"a":1}},"args":{{"b":[1]}},"attr":{{"c":2}},{AT},"pid":1.0,"dur":1}}]',
    "counters": f'[{{"ph":"C","name":"c","id":1,{AT},"args":{{"a":1.5,"b":-1,"c":"NaN"}}}}]',
    "metadata": '[{"ph":"M","name":"process_name","pid":"p","args":{"name":"RANK 3 HOST<x>"}},'
                '{"ph":"M","name":"thread_name","pid":1,"tid":-2,"args":{"name":"t","x":[1,2]}},'
                '{"ph":"M","name":"process_labels","pid":1,"args":{"labels":"l"}},'
                '{"ph":"M","name":"other","pid":1,"args":{"z":{}}}]',
    "torch": '{"schemaVersion":1,"deviceProperties":[{"id":0}],"baseTimeNanoseconds":17,'
             f'"distributedInfo":{{"rank":3}},"traceEvents":[{{"ph":"X",{AT},"dur":"N/A"}}]}}',
    "flex": f'[{{"ph":"B",{AT},"attr":{{"TS1":"0x7"}}}},{{"ph":"E",{AT}}}]',
    "ours": '{"traceEvents":[{"ph":"X","pid":7,"tid":7,"ts":1.000,"dur":2.000,"name":"a","args":'
            '{"unfinished":true}},{"ph":"s","pid":7,"tid":7,"ts":1.000,"name":"flow","cat":"flow",'
            '"id":"0x1","args":{"name":"n"}},{"ph":"M","pid":7,"tid":7,"name":"process_labels",'
            '"args":{"labels":"h, pid 3, c"}}],"otherData":{"tool":"unitrace","dialect":"torch",'
            '"input":{"a":1},"processes":[{"pid":7,"os_pid":3,"rank":1,"name":"n","host":"h",'
            '"command":"c","realtime_offset_ns":1,"losses":{"torn":1},"args":{"g":[1]},'
            '"counters":{"k":{"unit":"u","x":1}}},{"pid":8,"realtime_offset_ns":2,'
            '"losses":{"torn":2}}]}}',
    "broken": f'\ufeff[{{"ph":"X","name":"a\tb",{AT},"dur":NaN,}},,{{"ph":"X" "ts":-5}}{{}}12,'
              f'{{"ph":"Z","name":"a"b",{AT}}},\n{{"ph":"X",{AT},"dur":-1}}\0\0',
    "no_start": f'{{"ph":"X",{AT},"dur":1}},\n{{"ph":"X",{AT},"dur":1}}]',
    "escapes": r'[{"ph":"X","name":"\ud83d\ude00\ud83d\u0000\q\u12","pid":"\u00e9","ts":"1e3",'
               r'"dur":0.0005}]',
}
JSON = {
    "nested": '[[{"a":[1,{"b":[]}]}],{"c":{}}]',
    "numbers": "[0,-0,1.5,1e5,1E-3,18446744073709551616,-9223372036854775808,007,.5,NaN]",
    "strings": r'["","a\"b\\","\u00e9\ud83d\ude00\ud83d","' + "x" * 40 + '"]',
    "commas": '[1,,2,]{"a":1,}[1 2]{"a":1 "b":2}',
    "words": "true false null [tru]",
}


def main():
    for name, seeds in (("chrome", CHROME), ("json", JSON)):
        folder = HERE / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        for seed, text in seeds.items():
            data = text.encode("utf-8", "surrogatepass")
            (folder / seed).write_bytes(b"\x05" + data if name == "json" else data)
    for seed in range(12):
        data = trace_gen.trace(seed, 6).encode()
        (HERE / "corpus" / "chrome" / f"generated_{seed}").write_bytes(data)
        broken = trace_gen.mutate(random.Random(seed), data)
        (HERE / "corpus" / "chrome" / f"mutated_{seed}").write_bytes(broken)


if __name__ == "__main__":
    main()
