/* Marks of declarations, for programs that use them. */

/** Precedes the name of a function. */
#ifndef DAT_API
#define DAT_API
#endif

/** Precedes a declaration. */
#ifndef DAT_EXPORT
#define DAT_EXPORT extern
#endif

/** Converts the handle of an interface adapter to a number. */
#define DAT_IA_HANDLE_TO_UL(a) ((unsigned long)(a))

/** Converts a number from DAT_IA_HANDLE_TO_UL back to the handle. */
#define DAT_UL_TO_IA_HANDLE(a) ((DAT_IA_HANDLE)(a))
