import { pos } from "../../src/plugins/pos/index.ts"
import { asAdmin } from "../support/TestApp.ts"
import { ofOne, uuid } from "./ManyRows.ts"
import { asked, last, lastOfOne, one, pluginLists, rare, rows } from "./PluginLists.ts"

pluginLists("lists of tills, their shifts, sales and closings", {
  plugins: [pos()],
  samples: {
    pos_shifts: { openingFloat: 0, status: "closed", closingCount: 0 },
    pos_cash_events: { amount: 1, type: "drop" },
    pos_transactions: { currency: "USD", status: "completed", businessDate: "2030-01-01" },
    pos_payments: { amount: 1, changeGiven: 0, tip: 0 },
    pos_closings: { number: 1, businessDate: "2030-01-01" },
    pos_fiscal_records: { number: 1 }
  },
  growing: {
    pos_terminals: {
      columns: { ...rare("is_active", "false"), ...rare("type", "kiosk"), code: "'T' || n", warehouse_id: "null" }
    },
    pos_devices: { columns: { ...last("terminal_id"), api_key_id: uuid } },
    pos_shifts: {
      columns: {
        ...last("terminal_id"),
        ...last("operator_id", { value: "ann", others: "'operator ' || n" }),
        ...rare("status", "closed"),
        closing_id: uuid
      }
    },
    pos_cash_events: { columns: lastOfOne("shift_id") },
    pos_transactions: {
      columns: {
        ...last("shift_id"),
        ...last("customer_id"),
        ...last("terminal_id"),
        ...last("business_date", { value: "2030-01-02", others: "t.business_date + n" }),
        ...rare("status", "held"),
        receipt_number: "'R-' || n",
        client_id: "null",
        closing_id: `case when n > ${rows - ofOne} then null else ${uuid} end`
      }
    },
    pos_closings: {
      columns: {
        ...last("terminal_id"),
        ...last("business_date", { value: "2030-01-02", others: "t.business_date + n" }),
        number: "n"
      }
    }
  },
  asks: (made) =>
    asked(asAdmin, {
      "/api/pos/terminals": ["isActive=true", "isActive=false", "type=register", "type=kiosk"],
      "/api/pos/devices": [`terminalId=${one}`],
      "/api/pos/shifts": [`terminalId=${one}`, "operatorId=ann", "status=closed"],
      [`/api/pos/shifts/${made("pos_shifts")}/cash-events`]: [],
      "/api/pos/transactions/held": [`terminalId=${one}`],
      "/api/pos/transactions": [
        `shiftId=${one}`,
        "status=completed",
        "status=held",
        "businessDate=2030-01-02",
        `customerId=${one}`,
        "receiptNumber=R-1"
      ],
      "/api/pos/closings": [`terminalId=${one}`, "businessDate=2030-01-02"]
    }).filter(([path]) => path !== "/api/pos/transactions/held"),
  exceptions: {
    "/api/pos/transactions/held": "it is the list of one terminal",
    "/api/pos/transactions?receiptNumber": "a number is of one transaction"
  }
})
