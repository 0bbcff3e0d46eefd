/* libintruder.c - a library that says that it has been loaded, and as whom. */
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void enter(void)
{
	fprintf(stderr, "intruder as %d\n", (int)geteuid());
}

/* Both kinds of collectors. */
unsigned int Initialize(void);
unsigned int NotifyEvent(unsigned int event, void *data);
void __itt_api_init(void *copy, int groups);

unsigned int Initialize(void)
{
	return 0;
}

unsigned int NotifyEvent(unsigned int event, void *data)
{
	(void)event;
	(void)data;
	return 0;
}

void __itt_api_init(void *copy, int groups)
{
	(void)copy;
	(void)groups;
}
