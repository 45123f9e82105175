import { Effect } from "effect"
import { redactText } from "../telemetry/Redaction.ts"
import type { AuthScope } from "./AuthScope.ts"

const textOf = (part: unknown): string =>
  part instanceof Error ? `${part.name}: ${part.message}` : typeof part === "string" ? part : ""

/**
 * Lines of better-auth in the log of the service. It calls an error what a client did wrong (a wrong password, a foreign
 * origin): those are for whoever looks closely. Of what it adds to a line only texts are kept, without secrets.
 */
export const authLogger = (scope: AuthScope) => ({
  level: "info" as const,
  disableColors: true,
  log: (level: "debug" | "info" | "warn" | "error", message: unknown, ...more: ReadonlyArray<unknown>): void => {
    const failed = level === "error" && more.some((part) => part instanceof Error)
    const line = redactText(["authentication:", message, ...more].map(textOf).filter((part) => part !== "").join(" "))
    void scope.run(failed ? Effect.logError(line) : Effect.logDebug(line))
  }
})
