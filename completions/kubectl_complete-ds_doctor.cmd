@echo off
rem The same as kubectl_complete-ds_doctor, for Windows.
kubectl-ds_doctor __complete %*
