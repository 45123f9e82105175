import { type Call, projectPath, type Rule } from "./Rule.ts"

const message =
  "Tests of the gate assert states, never durations: wait without a bar, and measure in bench/ or test/chaos/."

/** The shortest bound that no slow machine reaches. */
const generousMs = 60_000

const isOfTheGate = (path: string) => /^(test\/(?!chaos\/)|src\/plugins\/[^/]+\/test\/)/.test(path)

const unitsMs: Readonly<Record<string, number>> = { milli: 1, second: 1_000, minute: 60_000 }

const millisecondsOf = (value: unknown): number => {
  // A smaller number is a count.
  if (typeof value === "number") return value < 100 ? Number.POSITIVE_INFINITY : value
  const [, count, unit = ""] = /^([\d.]+) (milli|second|minute)s?$/.exec(String(value)) ?? []
  return count === undefined ? Number.POSITIVE_INFINITY : Number(count) * (unitsMs[unit] ?? Number.POSITIVE_INFINITY)
}

/** Dotted name of what is called or read: `it.effect.each` of `it.effect.each(rows)(…)`. */
const nameOf = (node: Call["callee"]): string => {
  if (node.type === "Identifier") return node.name
  if (node.type === "CallExpression") return nameOf(node.callee)
  if (node.type !== "MemberExpression" || node.property.type !== "Identifier") return ""
  return `${nameOf(node.object)}.${node.property.name}`
}

/** Whether the value is a duration below the generous one, alone or as the `timeout` or `duration` of options. */
const isBar = (node: Call["arguments"][number]): boolean => {
  if (node.type === "Literal") return millisecondsOf(node.value) < generousMs
  return node.type === "ObjectExpression" &&
    node.properties.some((property) =>
      property.type === "Property" && property.key.type === "Identifier" &&
      /^(timeout|duration)$/.test(property.key.name) && isBar(property.value)
    )
}

const bounded = /^(Effect\.timeout\w*|AbortSignal\.timeout|waitFor|eventually|expect\.poll|(before|after)(All|Each))$/
const tests = /^(it|test|plain|describe|layer)\b/
const clocks = /^(performance\.now|process\.hrtime(\.bigint)?|Effect\.timed)$/
const assertions = /^(assert|expect)\b/

/** `stoa/no-duration-bars`: a test that measures time fails by chance where other programs run beside it. */
export const NoDurationBars: Rule = {
  meta: { type: "problem", docs: { description: "No durations below a minute, and no clocks, in tests of the gate" } },
  create(context) {
    const path = projectPath(context)
    if (!isOfTheGate(path) || path === "test/support/waitFor.ts") return {}
    return {
      CallExpression(node) {
        const name = nameOf(node.callee)
        const isBounded = bounded.test(name) || tests.test(name)
        const isAssertedClock = assertions.test(name) && context.sourceCode.getText(node).includes("Date.now()")
        if (clocks.test(name) || isAssertedClock || (isBounded && node.arguments.some(isBar))) {
          context.report({ node, message })
        }
      },
      ImportSpecifier(node) {
        if (node.local.name === "monitorEventLoopDelay") context.report({ node, message })
      }
    }
  }
}
