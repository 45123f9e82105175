import { projectPath, type Rule } from "./Rule.ts"

const clock = "Take the time from Effect's Clock or DateTime (or as an argument), so that a test clock can move it."

/**
 * `stoa/no-ambient`: what a test cannot steer or a type cannot see stays out of `src` but its adapters: the
 * wall clock and untyped JSON. `new Date(value)` is a plain conversion and allowed.
 */
export const NoAmbient: Rule = {
  meta: {
    type: "problem",
    docs: { description: "No Date.now(), new Date() or JSON.parse in src but in layers and the test kit" }
  },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("src/") || /^src\/(layers|plugins\/(kit\/install|kit\/testing|.*\/test))\//.test(path)) {
      return {}
    }
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.property.type !== "Identifier") return
        const name = `${node.object.name}.${node.property.name}`
        if (name === "Date.now") context.report({ node, message: clock })
        if (name === "JSON.parse") {
          context.report({ node, message: "JSON.parse gives any: decode with Schema.fromJsonString(schema)." })
        }
      },
      NewExpression(node) {
        if (node.callee.type !== "Identifier" || node.callee.name !== "Date" || node.arguments.length > 0) return
        context.report({ node, message: clock })
      }
    }
  }
}
