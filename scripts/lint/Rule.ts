import { relative, sep } from "node:path"
import type { RuleTester } from "oxlint/plugins-dev"

/** A house rule as oxlint's JS plugin interface takes it. */
export type Rule = Extract<Parameters<RuleTester["run"]>[1], { readonly create: (context: never) => unknown }>

type Context = Parameters<NonNullable<Rule["create"]>>[0]

/** The place in the file that a report points at. */
export type Node = NonNullable<Parameters<Context["report"]>[0]["node"]>

/** A call in the linted file. */
export type Call = Parameters<NonNullable<ReturnType<Rule["create"]>["CallExpression"]>>[0]

/** Whether an argument of a call is an object that says `name: true`. */
export const saysTrue = (argument: Call["arguments"][number] | undefined, name: string): boolean =>
  argument?.type === "ObjectExpression" &&
  argument.properties.some((one) =>
    one.type === "Property" && one.key.type === "Identifier" && one.key.name === name &&
    one.value.type === "Literal" && one.value.value === true
  )

/** The path of the linted file inside the project, with forward slashes on every platform. */
export const projectPath = (context: Context): string => relative(context.cwd, context.filename).split(sep).join("/")
