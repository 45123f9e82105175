import { Effect } from "effect"
import { group, type PluginCall, ValidationFailed } from "stoa/plugin"

export const routes = group("Procurement", "/procurement")
export const [read, create, admin] = ["procurement:read", "procurement:create", "procurement:admin"] as const

/** What the rules need of a request or a job. */
export type Tools = Pick<PluginCall, "actor" | "db" | "services">

/** Lines as they were given. */
export const inOrder = { order: ["createdAt"] } as const

/** Columns that a decision fills: its time and its person. */
export const decided = { stamp: "decidedAt", by: "decidedBy" } as const

/** Collects what is wrong with the items of a body, for one 422. */
export const itemIssues = () => {
  const issues: Array<{ path: string; message: string; code: string }> = []
  return {
    /** Says what a field of an item must be; gives no line in its place. */
    refuse: (n: number, name: string, rule: string, code = "invalid") => {
      const path = `items.${n}.${name}`
      issues.push({ path, message: rule, code })
      return []
    },
    orElse: <A>(value: A) => issues.length > 0 ? Effect.fail(ValidationFailed.issues(issues)) : Effect.succeed(value)
  }
}
