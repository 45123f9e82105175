/** Environment variables of the launcher: three for it alone, and those that name directories. */
export type LauncherVariable =
  | `EMBEDDED_PG_${"BIN" | "USER" | "CACHE"}`
  | `${"" | "LD_LIBRARY_" | "DYLD_LIBRARY_"}PATH`
  | "XDG_CACHE_HOME"
  | "SystemRoot"
  | "TEMP"
  | "TMP"

/** The value of a variable; an empty one counts as not set. The launcher runs before the service reads its settings. */
export const variable = (name: LauncherVariable): string | undefined => process.env[name] || undefined
