import type { Rule } from "./Rule.ts"

/** `stoa/no-double-assertion`: `x as unknown as Y` silences the type checker for good; narrow or decode instead. */
export const NoDoubleAssertion: Rule = {
  meta: { type: "problem", docs: { description: "No `as unknown as`" } },
  create: (context) => ({
    TSAsExpression(node) {
      const inner = node.expression.type === "ParenthesizedExpression" ? node.expression.expression : node.expression
      if (inner.type !== "TSAsExpression") return
      if (inner.typeAnnotation.type === "TSTypeReference") return
      context.report({ node, message: "Two assertions in a row defeat the type checker: narrow or decode the value." })
    }
  })
}
