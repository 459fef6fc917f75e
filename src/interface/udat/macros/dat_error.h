/** Returns the class bit of a warning: not 0 for a warning. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status) & DAT_CLASS_WARNING)

/** Returns the type of a return code, one of the values of DAT_RETURN_TYPE. */
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status) & DAT_TYPE_MASK)

/** Returns the subtype of a return code, one of the values of DAT_RETURN_SUBTYPE. */
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status) & DAT_SUBTYPE_MASK)
