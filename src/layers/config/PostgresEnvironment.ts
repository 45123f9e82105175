/** Environment variables of the launcher: three for it alone, and those that name directories. */
export type LauncherVariable =
  | "EMBEDDED_PG_BIN"
  | "EMBEDDED_PG_USER"
  | "EMBEDDED_PG_CACHE"
  | "XDG_CACHE_HOME"
  | "PATH"
  | "LD_LIBRARY_PATH"
  | "DYLD_LIBRARY_PATH"
  | "SystemRoot"
  | "TEMP"
  | "TMP"

/** The value of a variable; an empty one counts as not set. The launcher runs before the service reads its settings. */
export const variable = (name: LauncherVariable): string | undefined => {
  const value = process.env[name]
  return value === "" ? undefined : value
}
