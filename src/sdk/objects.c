/*
 * objects.c - the lists of early handles. Searched from the front: they are short, since they only
 * grow until the program's first real call.
 */
#define INTEL_NO_MACRO_BODY
#include "sdk/objects.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* A copy of s, counted as success when there was nothing to copy. */
static bool copy_to(const char **to, const char *s)
{
	*to = s ? strdup(s) : NULL;
	return *to || !s;
}

static void free_str(const char *s)
{
	free((void *)(uintptr_t)s);
}

__itt_domain *ut_itt_domain_node(__itt_global *copy, const char *name)
{
	__itt_domain **at = &copy->domain_list;
	__itt_domain *node;

	while (*at && !same((*at)->nameA, name))
		at = &(*at)->next;
	if (*at)
		return *at;
	node = calloc(1, sizeof(*node));
	if (!node || !copy_to(&node->nameA, name)) {
		free(node);
		return NULL;
	}
	node->flags = 1;
	return *at = node;
}

__itt_string_handle *ut_itt_string_node(__itt_global *copy, const char *name)
{
	__itt_string_handle **at = &copy->string_list;
	__itt_string_handle *node;

	while (*at && !same((*at)->strA, name))
		at = &(*at)->next;
	if (*at)
		return *at;
	node = calloc(1, sizeof(*node));
	if (!node || !copy_to(&node->strA, name)) {
		free(node);
		return NULL;
	}
	return *at = node;
}

__itt_counter ut_itt_counter_node(__itt_global *copy, const char *name, const char *domain,
				  __itt_metadata_type type)
{
	__itt_counter_info_t **at = &copy->counter_list;
	__itt_counter_info_t *node;

	while (*at && !(same((*at)->nameA, name) && same((*at)->domainA, domain) &&
			(*at)->type == (int)type))
		at = &(*at)->next;
	if (*at)
		return (__itt_counter)*at;
	node = calloc(1, sizeof(*node));
	if (!node || !copy_to(&node->nameA, name) || !copy_to(&node->domainA, domain)) {
		if (node)
			free_str(node->nameA);
		free(node);
		return NULL;
	}
	node->type = (int)type;
	*at = node;
	return (__itt_counter)node;
}

__itt_histogram *ut_itt_histogram_node(__itt_global *copy, const __itt_domain *domain,
				       const char *name, __itt_metadata_type x_type,
				       __itt_metadata_type y_type)
{
	__itt_histogram **at = &copy->histogram_list;
	__itt_histogram *node;

	while (*at && !((*at)->domain == domain && same((*at)->nameA, name)))
		at = &(*at)->next;
	if (*at)
		return *at;
	node = calloc(1, sizeof(*node));
	if (!node || !copy_to(&node->nameA, name)) {
		free(node);
		return NULL;
	}
	node->domain = domain;
	node->x_type = x_type;
	node->y_type = y_type;
	return *at = node;
}

static bool is_text(__itt_context_type type)
{
	return type == __itt_context_nameA || type == __itt_context_deviceA ||
	       type == __itt_context_unitsA || type == __itt_context_pci_addrA;
}

static bool is_number(__itt_context_type type)
{
	return type >= __itt_context_tid && type <= __itt_context_cpu_cycles_flag;
}

void ut_itt_metadata_node(__itt_global *copy, __itt_counter counter,
			  const __itt_context_metadata *m)
{
	__itt_counter_metadata **at = &copy->counter_metadata_list;
	__itt_counter_metadata *node;

	if (!m->value || (!is_text(m->type) && !is_number(m->type)))
		return;
	while (*at && !((*at)->counter == counter && (*at)->type == m->type))
		at = &(*at)->next;
	if (*at)
		return;
	node = calloc(1, sizeof(*node));
	if (!node)
		return;
	node->counter = counter;
	node->type = m->type;
	if (is_number(m->type))
		memcpy(&node->value, m->value, sizeof(node->value));
	else if (!copy_to(&node->str_valueA, m->value)) {
		free(node);
		return;
	}
	*at = node;
}

void ut_itt_free_nodes(__itt_global *copy)
{
	for (__itt_domain *d; (d = copy->domain_list);) {
		copy->domain_list = d->next;
		free_str(d->nameA);
		free(d);
	}
	for (__itt_string_handle *s; (s = copy->string_list);) {
		copy->string_list = s->next;
		free_str(s->strA);
		free(s);
	}
	for (__itt_counter_info_t *c; (c = copy->counter_list);) {
		copy->counter_list = c->next;
		free_str(c->nameA);
		free_str(c->domainA);
		free(c);
	}
	for (__itt_histogram *h; (h = copy->histogram_list);) {
		copy->histogram_list = h->next;
		free_str(h->nameA);
		free(h);
	}
	for (__itt_counter_metadata *m; (m = copy->counter_metadata_list);) {
		copy->counter_metadata_list = m->next;
		free_str(m->str_valueA);
		free(m);
	}
}
