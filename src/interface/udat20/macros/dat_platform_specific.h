/* Marks of declarations, for programs that use them. */

/** Before the name of a function. */
#ifndef DAT_API
#define DAT_API
#endif

/** Before a declaration. */
#ifndef DAT_EXPORT
#define DAT_EXPORT extern
#endif

/** An interface adapter's handle as a number. */
#define DAT_IA_HANDLE_TO_UL(a) ((unsigned long)(a))

/** An interface adapter's handle from the number. */
#define DAT_UL_TO_IA_HANDLE(a) ((DAT_IA_HANDLE)(a))
