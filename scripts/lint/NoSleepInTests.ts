import { projectPath, type Rule } from "./Rule.ts"

const message = "Tests wait for a state, never for a duration: use TestClock, a Deferred or a helper of test/support."
const timers = /^(node:)?timers(\/promises)?$/

/** `stoa/no-sleep-in-tests`: a test that sleeps is slow on a fast machine and wrong on a slow one. */
export const NoSleepInTests: Rule = {
  meta: { type: "problem", docs: { description: "No setTimeout or Effect.sleep in tests" } },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("test/") || path.startsWith("test/support/")) return {}
    return {
      CallExpression(node) {
        const { callee } = node
        if (callee.type === "Identifier" && /^(setTimeout|setInterval)$/.test(callee.name)) {
          context.report({ node, message })
        }
        if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return
        if (callee.object.type !== "Identifier") return
        const called = `${callee.object.name}.${callee.property.name}`
        if (/^(Effect\.(sleep|delay)|globalThis\.set(Timeout|Interval))$/.test(called)) {
          context.report({ node, message })
        }
      },
      ImportDeclaration(node) {
        if (timers.test(node.source.value)) context.report({ node, message })
      }
    }
  }
}
