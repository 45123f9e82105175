export type LauncherVariable =
  | `EMBEDDED_PG_${"BIN" | "USER" | "CACHE"}`
  | `${"" | "LD_LIBRARY_" | "DYLD_LIBRARY_"}PATH`
  | "XDG_CACHE_HOME"
  | "SystemRoot"
  | "TEMP"
  | "TMP"

export const variable = (name: LauncherVariable): string | undefined => process.env[name] || undefined
