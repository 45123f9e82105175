import { Layer } from "effect"
import { Addresses } from "../../domain/customers/Addresses.ts"
import { addressRepoLayer } from "../../domain/customers/AddressRepo.ts"
import { customerRepoLayer } from "../../domain/customers/CustomerRepo.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { migrations } from "../../domain/customers/migrations.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { customersHttp } from "../../http/customers/CustomersHttp.ts"
import { meHttp } from "../../http/customers/MeHttp.ts"
import { ofRoutes, seeing } from "../Sight.ts"

/** Customers: their profiles, and what each may do for himself. */
export const customers = defineModule({
  id: "customers",
  version: "1.0.0",
  requires: ["tenancy"],
  permissions: [
    { scope: "customers:read", description: "Read customers, and buy on their behalf" },
    { scope: "customers:create", description: "Enter customers" },
    { scope: "customers:update", description: "Change customers" },
    { scope: "customers:read:self", description: "Read one's own profile" },
    { scope: "customers:update:self", description: "Change one's own profile" }
  ],
  migrations,
  services: Addresses.layer.pipe(
    Layer.provideMerge(Customers.layer),
    Layer.provideMerge(Layer.mergeAll(customerRepoLayer, addressRepoLayer))
  ),
  routes: Layer.mergeAll(customersHttp, meHttp).pipe(seeing(Addresses, Customers, ...ofRoutes))
})
