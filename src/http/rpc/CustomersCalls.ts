import { Effect } from "effect"
import { Customers } from "../../domain/customers/Customers.ts"
import { CustomersRpc } from "./CustomersRpc.ts"
import { askedPage } from "./RpcLists.ts"
import { allPages } from "./RpcPages.ts"

/** Answers to the calls that `CustomersRpc.ts` declares. */
export const customersCalls = CustomersRpc.toLayer(Effect.gen(function*() {
  const customers = yield* Customers
  return CustomersRpc.of({
    "customers.list": (page) => customers.list(askedPage(page)),
    "customers.stream": () => allPages(customers.list),
    "customers.create": (customer) => customers.create(customer),
    "customers.read": ({ id }) => customers.get(id),
    "customers.change": ({ change, id, metadataReplace }) =>
      customers.change(id, change, metadataReplace === true ? "replace" : "merge")
  })
}))
