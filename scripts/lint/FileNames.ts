import { basename } from "node:path"
import { projectPath, type Rule } from "./Rule.ts"

const pascal = /^[A-Z][A-Za-z0-9]*\.ts$/
const vague = /^(utils?|helpers?|types?|common|shared|misc)\.ts$/i
/** Files whose place, not their export, says what they are. */
const fixed = /^(src\/main\.ts$|(src\/domain|(src\/)?plugins)\/(.+\/)?(migrations|permissions|analytics)\.ts$)/
const manifest = /^src\/layers\/modules\/[a-z][a-z0-9-]*\.ts$/
const pluginIndex = /^(src\/)?plugins\/[a-z][a-z0-9-]*\/index\.ts$/

const complaint = (path: string): string | undefined => {
  const name = basename(path)
  if (/^index\.[cm]?[jt]sx?$/.test(name)) {
    return pluginIndex.test(path)
      ? undefined
      : "index.ts exists only as a plugin's manifest, plugins/<id>/index.ts."
  }
  if (
    !/^(src|plugins)\//.test(path) || /^(src\/)?plugins\/.*\/test\//.test(path) || fixed.test(path) ||
    manifest.test(path)
  ) {
    return undefined
  }
  if (vague.test(name)) return `${name} predicts nothing: name the file after its subject.`
  return pascal.test(name) ? undefined : `${name} must be PascalCase, after what it exports.`
}

/** `stoa/file-names`: PascalCase files named after their main export, and no barrels. */
export const FileNames: Rule = {
  meta: { type: "problem", docs: { description: "File names predict their content" } },
  create: (context) => ({
    Program(node) {
      const message = complaint(projectPath(context))
      if (message !== undefined) context.report({ node, message })
    }
  })
}
