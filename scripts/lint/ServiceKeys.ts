import { basename, dirname } from "node:path"
import { projectPath, type Rule } from "./Rule.ts"

/**
 * `stoa/service-keys`: the key of a service is where it lives, `"stoa/domain/carts/CartRepo"`, so that keys are
 * unique and a missing service in an error message leads to its file. A second class of a file may add the file's name.
 */
export const ServiceKeys: Rule = {
  meta: { type: "problem", docs: { description: "Service keys follow the file's place" } },
  create(context) {
    const path = projectPath(context)
    if (!path.startsWith("src/") || /\/test\//.test(path)) return {}
    const place = `stoa/${dirname(path).slice("src/".length)}`.replace(/\/$/, "")
    return {
      ClassDeclaration(node) {
        const base = node.superClass
        if (base?.type !== "CallExpression" || base.callee.type !== "CallExpression") return
        const made = base.callee.callee
        if (made.type !== "MemberExpression" || made.property.type !== "Identifier") return
        if (made.object.type !== "Identifier" || made.object.name !== "Context" || made.property.name !== "Service") {
          return
        }
        const [key] = base.arguments
        const name = node.id?.name ?? ""
        const expected = [`${place}/${name}`, `${place}/${basename(path, ".ts")}/${name}`]
        if (key?.type === "Literal" && expected.some((one) => one === key.value)) return
        context.report({ node: key ?? node, message: `The key of ${name} is "${expected[0]}".` })
      }
    }
  }
}
