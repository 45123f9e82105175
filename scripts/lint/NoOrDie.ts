import { projectPath, type Rule } from "./Rule.ts"

/**
 * `stoa/no-or-die`: an error becomes a defect only where SQL ends (`*Repo.ts`, `*Statements.ts`); anywhere else a caller
 * loses the chance to answer it, or at least to tell of it.
 */
export const NoOrDie: Rule = {
  meta: { type: "problem", docs: { description: "Effect.orDie only in *Repo.ts and *Statements.ts" } },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("src/") || /(Repo|Statements)\.ts$/.test(path) || /\/test\//.test(path)) return {}
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || !/^(Effect|Layer|Stream)$/.test(node.object.name)) return
        if (node.property.type !== "Identifier" || node.property.name !== "orDie") return
        context.report({ node, message: "orDie belongs in *Repo.ts: keep the error typed here." })
      }
    }
  }
}
