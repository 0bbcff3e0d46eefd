/*
 * libempty.c - a collector whose functions do nothing: what the call itself costs, and so the
 * least that a paused collector can.
 */
#define INTEL_NO_MACRO_BODY

#include "itt/abi.h"

static void task_begin(const __itt_domain *domain, __itt_id id, __itt_id parent,
		       __itt_string_handle *name)
{
	(void)domain;
	(void)id;
	(void)parent;
	(void)name;
}

static void task_end(const __itt_domain *domain)
{
	(void)domain;
}

#include "pair_collector.h"
