/** Not 0 if a return code is a warning. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status) & DAT_CLASS_WARNING)

/** Type of a return code: compare it with the values of DAT_RETURN_TYPE. */
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status) & DAT_TYPE_MASK)

/** Subtype of a return code: compare it with the values of DAT_RETURN_SUBTYPE. */
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status) & DAT_SUBTYPE_MASK)
