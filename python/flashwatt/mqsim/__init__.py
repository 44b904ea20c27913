"""Configurations of MQSim (https://github.com/CMU-SAFARI/MQSim), its drives and workloads, as ones of FlashWatt."""
