export type EmbeddedPgCode =
  | "NoBinaries"
  | "NoUser"
  | "InitFailed"
  | "VersionMismatch"
  | "Corrupt"
  | "StartFailed"
  | "Timeout"
  | "PortInUse"

/** The only error of `startPostgres`. `log` is the end of the failed program's output. */
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

export const systemCode = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : ""
