"""Recording from the middle of a program on: warm up, resume, detach."""
import itt

domain = itt.domain_create("recipe")


def step(name):
    itt.task_begin(domain, name)
    itt.task_end(domain)


for i in range(3):
    step("warm-up")
itt.resume()
step("measured")
itt.detach()
step("unwanted")
