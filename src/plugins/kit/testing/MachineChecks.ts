import { deepStrictEqual, ok } from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { Machine } from "../records/Machine.ts"
import { pathOfMove } from "../records/MoveOf.ts"
import { columnName, type Table } from "../tables/Table.ts"
import type { PluginCheck } from "./PluginContract.ts"
import type { PluginTestApp } from "./PluginTestApp.ts"
import { type SampleRows, sampleRows } from "./SampleRows.ts"
import { type TestActor, testAdminActor } from "./TestActors.ts"

/** What the checks of a machine cannot see in it. */
export interface MachineOptions<Name extends string> {
  /** Where the rows are, with `/api`; needed when the moves of several tables have one name. */
  readonly path?: string
  /** Moves that no route makes. */
  readonly without?: ReadonlyArray<NoInfer<Name>>
  /** Who makes the moves. Default: the admin. */
  readonly as?: TestActor
  /** Bodies of moves that take one. */
  readonly bodies?: { readonly [K in NoInfer<Name>]?: unknown }
  /** Columns beside the state that a row has in it, by state, where the table has conditions about them. */
  readonly states?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly samples?: SampleRows
}

const codeOf = (body: unknown): unknown => Reflect.get(Object(Reflect.get(Object(body), "error")), "code")

/**
 * Makes every move from every state over the routes `POST …/:id/<move>`: what the machine allows is 201 and changes the
 * state, anything else is 422 INVALID_TRANSITION and changes nothing; an unknown row is 404.
 */
export const machineOf = <T extends Table, Name extends string>(
  test: PluginTestApp,
  { column, moves, table }: Machine<T, Name>,
  { as = testAdminActor, bodies, path, samples = {}, states = {}, without = [] }: MachineOptions<Name> = {}
): ReadonlyArray<PluginCheck> => {
  const { app, db, routes } = test
  const words = table.columns[column]?.facts.among ?? []
  let row: Promise<string> | undefined
  /** One row for all checks, which are made one after the other. */
  const sample = async () => {
    row ??= sampleRows(test, "org_default", samples).then((made) => made.get(table.name) ?? "")
    return row
  }
  const routeOf = (move: Name): string => {
    const end = `/:id/${pathOfMove(move)}`
    const found = routes.filter(({ method, path: one }) =>
      method === "POST" && (path === undefined ? one.endsWith(end) : one === `${path}${end}`)
    )
    const [first] = found
    ok(first !== undefined && found.length === 1, `${found.length} routes end with ${end}: say \`path\``)
    return first.path
  }
  const send = (move: Name, id: string) => {
    const body: unknown = Reflect.get(Object(bodies), move)
    const address = routeOf(move).replace(":id", id)
    return app.request("POST", address, { as, ...(body === undefined ? {} : { body }) })
  }
  const setState = async (id: string, state: string) => {
    const values = Object.entries({ [column]: state, ...states[state] })
    const set = values.map(([name], n) => `${columnName(name)} = $${n + 2}`).join(", ")
    await db.query(`update ${table.name} set ${set} where id = $1`, [id, ...values.map(([, value]) => value)])
  }
  const stateOf = async (id: string) => {
    const [found] = await db.query(`select ${columnName(column)} as state from ${table.name} where id = $1`, [id])
    return found?.["state"]
  }

  const checked = Object.entries<(typeof moves)[Name]>(moves).filter(([name]) => !without.some((one) => one === name))
  return checked.map(([name, { from, to }]) => ({
    name: `${table.name}: ${name} leads from ${from.join(" or ")} to ${to}, and from nowhere else`,
    run: async () => {
      const move = name as Name
      deepStrictEqual((await send(move, randomUUID())).status, 404, `${name} of an unknown row`)
      const id = await sample()
      for (const state of words) {
        await setState(id, state)
        const { body, status } = await send(move, id)
        const isAllowed = from.includes(state)
        const expected = isAllowed ? [201, undefined, to] : [422, "INVALID_TRANSITION", state]
        deepStrictEqual([status, codeOf(body), await stateOf(id)], expected, `${name} of a row that is ${state}`)
      }
    }
  }))
}
