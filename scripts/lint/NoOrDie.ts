import { projectPath, type Rule } from "./Rule.ts"

const allowed = /(^|\/)\w*Repo\.ts$|(^|\/)migrations\.ts$|^src\/layers\/|^src\/main\.ts$/

/**
 * `stoa/no-or-die`: an error becomes a defect only where SQL ends (`*Repo.ts`) and where the program is wired
 * (`src/layers`); anywhere else a caller loses the chance to answer it.
 */
export const NoOrDie: Rule = {
  meta: { type: "problem", docs: { description: "Effect.orDie only in *Repo.ts and src/layers" } },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("src/") || allowed.test(path)) return {}
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || !/^(Effect|Layer|Stream)$/.test(node.object.name)) return
        if (node.property.type !== "Identifier" || node.property.name !== "orDie") return
        context.report({ node, message: "orDie belongs in *Repo.ts or src/layers: keep the error typed here." })
      }
    }
  }
}
