"""compat.py - a program written for itt-python, run with Intel's drop-in for it."""
import ittapi.compat as itt

domain = itt.domain_create("compat.domain")
itt.resume()
itt.task_begin(domain, "step")
itt.task_begin(domain, "half a step")
itt.task_end(domain)
itt.task_end(domain)
itt.task_end(domain)  # one too many
itt.pause()
