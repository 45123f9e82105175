/** What went wrong when the embedded PostgreSQL was started; every code has a remedy in its message. */
export type EmbeddedPgCode =
  | "NoBinaries"
  | "NoUser"
  | "InitFailed"
  | "VersionMismatch"
  | "Corrupt"
  | "StartFailed"
  | "Timeout"
  | "PortInUse"

/**
 * The only error `startPostgres` rejects with. `log` holds the end of the output of the program that failed,
 * where one was run.
 */
export class EmbeddedPgError extends Error {
  override readonly name = "EmbeddedPgError"
  readonly code: EmbeddedPgCode
  readonly log: string

  constructor(code: EmbeddedPgCode, message: string, log = "") {
    super(log === "" ? message : `${message}\n--- last output ---\n${log}`)
    this.code = code
    this.log = log
  }
}

/** The system's code of an error ("ENOENT", "EACCES"), or an empty string. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
