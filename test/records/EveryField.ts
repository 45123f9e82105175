import { Schema, SchemaAST } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { Table } from "../../src/domain/platform/records/Table.ts"

const time = new Date("2024-05-06T07:08:09.010Z")

/** Names of fields whose columns take UUIDs alone. */
const isId = /^id$|Id$|^owner$|^leaseToken$|^resentFrom$/

/** A value that a schema admits and that is neither null nor a default; `n` makes it different from others. */
const valueOf = (name: string, ast: SchemaAST.AST, n: number): unknown => {
  if (SchemaAST.isUnion(ast)) {
    const members = ast.types.filter((type) => !SchemaAST.isNull(type) && !SchemaAST.isUndefined(type))
    return valueOf(name, members.at(-1) ?? ast, n)
  }
  if (SchemaAST.isLiteral(ast)) return ast.literal
  if (SchemaAST.isBoolean(ast)) return true
  if (SchemaAST.isNumber(ast)) return n + 1
  if (SchemaAST.isArrays(ast)) return [...ast.elements, ...ast.rest].map((element) => valueOf(name, element, n))
  if (SchemaAST.isObjects(ast) && ast.propertySignatures.length > 0) {
    return Object.fromEntries(
      ast.propertySignatures.map((property, at) => [
        property.name,
        valueOf(String(property.name), property.type, n + at)
      ])
    )
  }
  const [index] = SchemaAST.isObjects(ast) ? ast.indexSignatures : []
  if (index !== undefined) return { [name]: SchemaAST.isUnknown(index.type) ? n : valueOf(name, index.type, n) }
  const isValid = Schema.is(Schema.make<Schema.Codec<unknown>>(ast))
  const id = newId()
  const text = isId.test(name) ? id : name.endsWith("Cost") ? `${n}.5000000000` : `${name} ${n}`
  return [text, id, "USD", "1.5", "a@shop.example", time, { [name]: n }].find((value) => isValid(value))
}

/** A valid record with a value in every field, over those given. */
export const everyField = <A extends object>({ schema }: Pick<Table<A>, "schema">, given: Partial<A> = {}): A => {
  const typed = Schema.toType(schema)
  const made = Object.entries(schema.fields).map(([field, one], n) => [
    field,
    valueOf(field, Schema.toType(one).ast, n)
  ])
  return Schema.decodeUnknownSync(typed)({ ...Object.fromEntries(made), ...given })
}
