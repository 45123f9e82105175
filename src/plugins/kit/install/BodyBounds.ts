import type { SchemaAST } from "effect"
import { defaultRoles } from "../../../domain/platform/access/Permission.ts"
import type { Plugin } from "../Plugin.ts"
import { type Described, nameOf } from "../routes/RouteShape.ts"

/** Ends of the ids of checks that limit a length. Formats and patterns count: what they admit is short. */
const limiting = /\/is(MaxLength|BetweenLength|MaxProperties|BetweenProperties|UUID|ULID|Pattern|Base64|Base64Url)$/

const limits = (check: SchemaAST.Check<unknown>): boolean => {
  if (check._tag === "FilterGroup") return check.checks.some(limits)
  const { annotations = {} } = check
  const id: unknown = Reflect.get(Object(annotations["representation"]), "id")
  return typeof annotations["maxBytes"] === "number" || typeof id === "string" && limiting.test(id)
}

/** The whole value has a size, and so does all that is in it. */
const isSized = ({ annotations }: SchemaAST.Check<unknown>): boolean => typeof annotations?.["maxBytes"] === "number"

const isLimited = (ast: SchemaAST.AST): boolean =>
  (ast.checks ?? []).some(limits) || (ast.encoding ?? []).some(({ to }) => isLimited(to))

/** The fields of a schema that admit a text, list or record of any size. */
const unlimitedIn = (ast: SchemaAST.AST, path: string, within: ReadonlySet<SchemaAST.AST>): ReadonlyArray<string> => {
  if (within.has(ast) || (ast.checks ?? []).some(isSized)) return []
  if (isLimited(ast) && ast._tag !== "Objects" && ast._tag !== "Arrays") return []
  const inside = new Set([...within, ast])
  const own = isLimited(ast) ? [] : [path]
  switch (ast._tag) {
    case "String":
    case "Unknown":
    case "Any":
    case "ObjectKeyword":
      return own
    case "Arrays":
      return [
        ...(ast.rest.length > 0 ? own : []),
        ...[...ast.elements, ...ast.rest].flatMap((one) => unlimitedIn(one, `${path}[]`, inside))
      ]
    case "Objects":
      if (ast.indexSignatures.length > 0) return own
      return ast.propertySignatures.flatMap(({ name, type }) =>
        unlimitedIn(type, path === "" ? String(name) : `${path}.${String(name)}`, inside)
      )
    case "Union":
      return ast.types.flatMap((one) => unlimitedIn(one, path, inside))
    case "Suspend":
      return unlimitedIn(ast.thunk(), path, inside)
    default:
      return []
  }
}

/** The permissions that shoppers hold from the start. */
export const shopperScopes = (plugins: ReadonlyArray<Pick<Plugin, "permissions">>): ReadonlySet<string> =>
  new Set([
    ...defaultRoles["customer"] ?? [],
    ...plugins.flatMap(({ permissions }) =>
      permissions.filter(({ roles = [] }) => roles.includes("customer")).map(({ scope }) => scope)
    )
  ])

/**
 * What of bodies has no limit on routes that ask for no permission, or for one of shoppers, a sentence for each field:
 * anybody can send such a body, and rows and the change log keep it.
 */
export const boundFlaws = (
  routes: ReadonlyArray<{ readonly plugin: string; readonly route: { readonly described: Described } }>,
  ofShoppers: ReadonlySet<string>
): ReadonlyArray<string> =>
  routes.flatMap(({ plugin, route: { described } }) => {
    const { input, method, permission } = described
    const isOpen = permission === undefined || ofShoppers.has(permission)
    if (!isOpen || input === undefined || method === "GET" || method === "DELETE") return []
    return [...new Set(unlimitedIn(input.ast, "", new Set()))].map((field) =>
      `The route ${
        nameOf(described)
      } of plugin "${plugin}" asks for no permission but those of shoppers, and its body has no limit for ` +
      `${
        field === "" ? "its size" : `"${field}"`
      }. Use \`Text\`, \`json\`, \`Schema.isMaxLength\` or \`Schema.isMaxProperties\`.`
    )
  })
