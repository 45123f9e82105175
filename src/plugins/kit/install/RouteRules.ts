import type { Plugin } from "../Plugin.ts"
import { isErrorAnswer } from "../routes/ApiError.ts"
import type { BuiltRoute } from "../routes/PluginRoute.ts"
import { ruleOf } from "../routes/RouteShape.ts"
import { boundFlaws } from "./BodyBounds.ts"
import { Owners } from "./PluginRules.ts"

const headerForm = /^[a-z0-9]+(-[a-z0-9]+)*$/
const errorForm = "a status is from 400 to 599, a code has capitals, digits and _"

/** What cannot be right about their calls: as of routes, and a name that is not the plugin's. */
export const callFlaws = (
  plugins: ReadonlyArray<Pick<Plugin, "calls" | "id">>,
  permissions: ReadonlySet<string>
): ReadonlyArray<string> =>
  plugins.flatMap(({ calls, id }) =>
    calls.flatMap((one) => [
      ...(one.name.startsWith(`${id}.`)
        ? []
        : [`Plugin "${id}": the name of the call "${one.name}" is not of the form "${id}.name".`]),
      ...(one.isGuarded && ruleOf(one) !== undefined
        ? []
        : [`The call "${one.name}" of plugin "${id}" says neither auth, permission, admits nor public.`]),
      ...(one.permission === undefined || permissions.has(one.permission)
        ? []
        : [
          `The call "${one.name}" of plugin "${id}" asks for the permission "${one.permission}", which is not declared.`
        ])
    ])
  )

interface OwnedRoute {
  readonly plugin: string
  readonly route: Pick<BuiltRoute, "described">
}

/** `/vendors/:id` and `/vendors/:vendorId` are one address. */
const addressOf = (method: string, path: string): string => `${method} ${path.replace(/:[^/]+/g, ":")}`

/** First words of addresses outside `/api` that the core has, or will have. */
const coreWords = new Set(["admin", "api", "console", "health", "metrics", "rpc"])
const pathForm = /^(\/(:\w+|[\w.~-]+))+$/

/** What cannot be right about the address of a route: another form than words, or a place of the core. */
const ofAddress = ({ outsideApi, path }: BuiltRoute["described"]): ReadonlyArray<string> => {
  const [, first = "", second = ""] = path.toLowerCase().split("/")
  if (!pathForm.test(path)) return [`has other signs than letters, digits, ".", "_", "~" and "-" in its path`]
  if (outsideApi !== true) return second === "auth" ? [`stands in "/api/auth", which belongs to the core`] : []
  if (first.startsWith(":")) return ["begins with a parameter, so it would answer for other addresses"]
  return coreWords.has(first) ? [`stands in "/${first}", which belongs to the core`] : []
}

/**
 * What cannot be right about their routes: a missing access rule, an undeclared permission, an address
 * that is taken, a body without limits.
 */
export const routeFlaws = (
  routes: ReadonlyArray<OwnedRoute>,
  permissions: ReadonlySet<string>,
  core: ReadonlyArray<{ readonly method: string; readonly path: string }>,
  ofShoppers: ReadonlySet<string> = new Set()
): ReadonlyArray<string> => {
  const owners = new Owners(core.map(({ method, path }) => addressOf(method, path)))
  const found = routes.flatMap(({ plugin, route: { described } }) => {
    const address = `${described.method} ${described.path}`
    const other = owners.take(addressOf(described.method, described.path), `plugin "${plugin}"`)
    const { permission } = described
    return [
      ...(other === undefined ? [] : [`The route ${address} of plugin "${plugin}" belongs to ${other} already.`]),
      ...ofAddress(described).map((flaw) => `The route ${address} of plugin "${plugin}" ${flaw}.`),
      ...(described.failed === undefined || described.raw !== undefined
        ? []
        : [`The route ${address} of plugin "${plugin}" answers JSON in a group with \`failed\`: make it a raw route.`]),
      ...(ruleOf(described) === undefined
        ? [`Unclassified routes: ${address} of plugin "${plugin}" says neither auth, permission, admits nor public.`]
        : []),
      ...(permission === undefined || permissions.has(permission)
        ? []
        : [
          `The route ${address} of plugin "${plugin}" asks for the permission "${permission}", which is not declared.`
        ]),
      ...Object.keys(described.headers ?? {}).filter((name) => !headerForm.test(name)).map((name) =>
        `The route ${address} of plugin "${plugin}" reads the header "${name}": names have small letters, digits and -.`
      ),
      ...(described.errors ?? []).filter((error) => !isErrorAnswer(error)).map(({ code, status }) =>
        `The route ${address} of plugin "${plugin}" lists the error ${status} "${code}": ${errorForm}.`
      )
    ]
  })
  return [...found, ...boundFlaws(routes, ofShoppers)]
}
