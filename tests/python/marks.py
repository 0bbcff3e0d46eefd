"""Every mark that the package knows, once."""
import unitrace


@unitrace.range("decorated")
def decorated():
    return 1


def main():
    for i in range(2):
        with unitrace.frame("steps"):
            with unitrace.range("step", batch=32, rate=0.5, note="été \udc80", many=2**70):
                unitrace.append_meta_data("HiFi2")
                unitrace.counter("loss", 1 / (i + 1))
    assert decorated() == 1
    unitrace.message("hello")
    unitrace.signpost("header", message="text")
    unitrace.message("lone \udc80")
    unitrace.marker("here")
    over = unitrace.overlapped("over")
    with unitrace.task("around", domain="mine"):
        over.begin()
    over.end()
    unitrace.thread_name("the main thread")
    try:
        with unitrace.range("left by an exception"):
            raise KeyError
    except KeyError:
        pass
    print(unitrace.recording())
    unitrace.detach()
    with unitrace.range("after the end"):
        pass


main()
